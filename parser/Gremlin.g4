// The shape of a query: a chain of calls whose arguments are values. Which names exist, and with
// which arguments, is data (planner/steps); which words are enums and predicates is parser/words.
//
// Every decision needs one token of look-ahead, so that parsing is linear and never backtracks.
// Chains and collections are loops: only brackets recurse, and scan.h bounds their depth before.
// The tokens come from scan.h, which reads strings, comments and numbers and refuses stray text.
parser grammar Gremlin;

tokens {
  NAME, NEW, NUMBER, STRING, DOT, COMMA, COLON, SEMICOLON,
  LEFT_PAREN, RIGHT_PAREN, LEFT_BRACKET, RIGHT_BRACKET, LEFT_BRACE, RIGHT_BRACE
}

query
    : body=chain SEMICOLON? EOF
    ;

// g.V().out('knows'), __.in(), out(), P.gt(1).and(lt(3)), Order.desc, desc, x, null, UUID('..')
chain
    : links+=link (DOT links+=link)*
    ;

link
    : creation=NEW? name=NAME call=arguments?
    ;

arguments
    : LEFT_PAREN (entries+=entry (COMMA entries+=entry)*)? RIGHT_PAREN
    ;

// A colon makes a map's entry or a strategy's option.
entry
    : (wrapper=LEFT_PAREN first=value RIGHT_PAREN | first=value) (COLON second=value)?
    ;

value
    : words=chain
    | number=NUMBER (DOT DOT last=NUMBER)?
    | text=STRING (DOT DOT last=STRING)?
    | ordered=list
    | distinct=set
    ;

list
    : LEFT_BRACKET (colon=COLON | entries+=entry (COMMA entries+=entry)*)? RIGHT_BRACKET
    ;

set
    : LEFT_BRACE (entries+=value (COMMA entries+=value)*)? RIGHT_BRACE
    ;
