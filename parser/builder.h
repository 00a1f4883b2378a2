// From ANTLR's parse tree to the AST: decides what a word means, folds constants, and takes the
// terminal method off the root chain. Recursion follows the text's brackets, which scan.h bounds.
#pragma once

#include <string_view>
#include <vector>

#include "core/status.h"
#include "parser/ast.h"
#include "parser/parser.h"
#include "parser/scan.h"

namespace antlr4 {
class ParserRuleContext;
}

namespace koios::parser {

// REQUIRES: `query` is the grammar's query context over exactly these tokens of `text`, without a
// syntax error.
StatusOr<Query> BuildQuery(antlr4::ParserRuleContext* query, std::string_view text,
                           const std::vector<Lexeme>& tokens, const Limits& limits);

}  // namespace koios::parser
