#!/usr/bin/env python3
"""The rules themselves: each finds its bad samples and lets the good ones pass."""

import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import rules
from cpp_text import code_of, functions_of
from source_tree import SourceFile, SourceTree, read_tree

HEADER = '// What it is for.\n#pragma once\n'
MARK = 'TO' 'DO'


def findings(rule, **files):
    """What `rule` says of files given as path=text, with __ for / and _dot_ for a dot."""
    return list(rule(SourceTree(
        SourceFile(path.replace('__', '/').replace('_dot_', '.'), text)
        for path, text in files.items())))


def function_of(num_lines):
    return 'void F() {\n' + '  G();\n' * (num_lines - 2) + '}\n'


class RuleTest(unittest.TestCase):
    def assert_found(self, rule, message, **files):
        found = findings(rule, **files)
        self.assertEqual(len(found), 1, found)
        self.assertIn(message, found[0].message)

    def assert_clean(self, rule, **files):
        self.assertEqual(findings(rule, **files), [])

    def test_arrows(self):
        rule = rules.check_arrows
        for path in ('core__x_dot_cc', 'parser__x_test_dot_cc', 'storage__rocks__x_dot_h'):
            self.assert_found(rule, 'may use only', **{path: '#include "engine/engine.h"\n'})
        self.assert_found(rule, 'planner', engine__x_dot_cc='#include "planner/planner.h"\n')
        self.assert_found(rule, 'engine', planner__x_dot_cc='#include "engine/engine.h"\n')
        self.assert_found(rule, 'client',
                          tests__simulation__x_dot_cc='#include "client/client.h"\n')
        self.assert_found(rule, 'proto', proto__x_dot_h='  #  include "core/status.h"\n')
        self.assert_clean(rule, server__x_dot_cc='#include "engine/engine.h"\n',
                          core__x_dot_cc='#include "core/x.h"\n#include "absl/status/status.h"\n',
                          app__x_dot_cc='#include "client/client.h"\n',
                          tests__golden__x_dot_cc='#include "server/server.h"\n',
                          tests__simulation__y_dot_cc='#include "tests/simulation/y.h"\n')

    def test_circles(self):
        rule = rules.check_circles
        there, back = '#include "engine/b/y.h"\n', '#include "engine/a/x.h"\n'
        self.assertEqual(len(findings(rule, engine__a__x_dot_h=there, engine__b__y_dot_h=back)), 2)
        self.assertEqual(len(findings(rule, engine__a__c__x_dot_h=there,
                                      engine__b__y_dot_h='#include "engine/d/z.h"\n',
                                      engine__d__z_dot_cc=back)), 3)
        self.assert_clean(rule, engine__a__x_dot_h=there, engine__b__y_test_dot_cc=back,
                          engine__b__y_dot_h='#include "engine/engine.h"\n',
                          engine__engine_dot_h=there)

    def test_links(self):
        rule = rules.check_links
        self.assert_found(rule, 'planner links koios_engine',
                          CMakeLists_dot_txt='koios_library(planner LINKS koios_core koios_engine)')
        self.assert_found(rule, 'engine links koios_rpc',
                          CMakeLists_dot_txt='\nkoios_library(engine LINKS\n  koios_rpc)')
        self.assert_clean(rule, CMakeLists_dot_txt='koios_library(client LINKS koios_rpc absl::x)')

    def test_libraries(self):
        rule = rules.check_libraries
        for include in ('<rocksdb/db.h>', '<grpcpp/grpcpp.h>', '"proto/service.grpc.pb.h"',
                        '<antlr4-runtime.h>', '"Gremlin.h"', '<CLI/CLI.hpp>',
                        '<spdlog/spdlog.h>', '<boost/multiprecision/cpp_int.hpp>'):
            self.assert_found(rule, 'only', storage__x_dot_cc=f'#include {include}\n')
        self.assert_found(rule, 'nowhere', client__x_dot_cc='#include <readline/readline.h>\n')
        self.assert_clean(rule, storage__rocks__x_dot_cc='#include <rocksdb/db.h>\n',
                          server__x_dot_cc='#include <grpcpp/grpcpp.h>\n',
                          parser__x_dot_cc='#include "Gremlin.h"\n',
                          app__x_dot_cc='#include <CLI/CLI.hpp>\n',
                          core__log_dot_cc='#include <spdlog/spdlog.h>\n')

    def test_include_paths(self):
        rule = rules.check_include_paths
        self.assert_found(rule, 'from the root', core__x_dot_cc='#include "y.h"\n',
                          core__y_dot_h=HEADER)
        self.assert_found(rule, 'from the root', core__x_dot_cc='#include "core/gone.h"\n')
        self.assert_found(rule, 'own header', core__x_dot_h=HEADER,
                          core__x_dot_cc='#include <string>\n#include "core/x.h"\n')
        self.assert_found(rule, 'own header', core__x_dot_h=HEADER,
                          core__x_test_dot_cc='#include <gtest/gtest.h>\n')
        self.assert_clean(rule, core__x_dot_h=HEADER, core__y_dot_cc='#include <string>\n',
                          core__x_dot_cc='#include "core/x.h"\n#include "re2/re2.h"\n'
                                         '#include "proto/value.pb.h"\n')

    def test_lengths(self):
        rule = rules.check_lengths
        self.assert_found(rule, '401 lines', core__x_dot_h='\n' * 401)
        self.assert_found(rule, '701 lines', core__x_dot_cc='\n' * 701)
        self.assert_found(rule, 'F has 71 lines', core__x_dot_cc=function_of(71))
        self.assert_found(rule, 'F has 71 lines',
                          core__x_dot_h='class A {\n public:\n' + function_of(71) + '};\n')
        self.assert_clean(rule, core__x_dot_h='\n' * 400, core__y_dot_cc='\n' * 700,
                          core__z_dot_cc=function_of(70) + function_of(70))

    def test_columns(self):
        rule = rules.check_columns
        self.assert_found(rule, '101 columns', core__x_dot_cc='x' * 101)
        self.assert_found(rule, '101 columns', tools__install='#!/bin/sh\n#' + 'x' * 100)
        self.assert_found(rule, 'tab', proto__x_dot_proto='\tx')
        self.assert_clean(rule, core__x_dot_cc='é' * 100, README_dot_md='x' * 200,
                          tests__data__x_dot_csv='x' * 200)

    def test_readmes(self):
        rule = rules.check_readmes
        self.assert_found(rule, 'no README', core__x_dot_cc='')
        self.assert_found(rule, '41 lines', core__x_dot_cc='', core__README_dot_md='\n' * 41)
        self.assert_clean(rule, core__x_dot_cc='', core__README_dot_md='\n' * 40,
                          docs__x_dot_md='', CMakeLists_dot_txt='')

    def test_headers(self):
        rule = rules.check_headers
        self.assert_found(rule, 'comment', core__x_dot_h='#pragma once\n')
        self.assert_found(rule, 'comment', core__x_dot_h='\n' + HEADER)
        self.assert_found(rule, 'pragma', core__x_dot_h='// For x.\n#include <string>\n')
        self.assert_clean(rule, core__x_dot_h=HEADER, core__y_dot_cc='')

    def test_marks(self):
        rule = rules.check_marks
        for mark in (MARK, 'FIX' 'ME', 'XX' 'X', 'HA' 'CK'):
            self.assert_found(rule, mark, core__x_dot_cc=f'// {mark}: later\n')
            self.assert_found(rule, mark, README_dot_md=f'{mark}\n')
        self.assert_clean(rule, core__x_dot_cc='// Hackney has XXXL and todos.\n')

    def test_machine_paths(self):
        rule = rules.check_machine_paths
        for path in ('wo' 'rk/data', 'ro' 'ot/x', 'ho' 'me/me'):
            self.assert_found(rule, 'one machine', core__x_dot_cc=f'Open("/{path}");\n')
            self.assert_found(rule, 'one machine', tools__x=f'cd /{path}\n')
        self.assert_clean(rule, tools__x='cd $root/work\n# and/or https://a.org/home/x\n',
                          core__y_dot_cc='a /work_count')

    def test_locks(self):
        rule = rules.check_locks
        for lock in ('std::mutex', 'std::shared_mutex', 'std::condition_variable', 'absl::Mutex'):
            self.assert_found(rule, 'core/mutex.h', server__x_dot_h=f'{lock} lock_;\n')
        self.assert_clean(rule, core__mutex_dot_h='std::mutex mutex_;\n',
                          server__x_dot_h='Mutex mutex_;  // not std::mutex\n')

    def test_names(self):
        rule = rules.check_names
        for name in ('text_utils', 'util', 'test_helpers', 'common', 'graph_manager'):
            self.assert_found(rule, 'says nothing', **{f'core__{name}_dot_h': HEADER})
        for line in ('class TextUtils {', 'struct Helper final', 'namespace koios::common {',
                     'class GraphManager : public X {', 'namespace text_util {'):
            expected = 0 if 'final' in line or '::' in line else 1
            self.assertEqual(len(findings(rule, core__x_dot_h=line)), expected, line)
        self.assert_found(rule, 'snake_case', core__TextRow_dot_h=HEADER)
        self.assert_found(rule, '.h and .cc', core__x_dot_cpp='')
        self.assert_clean(rule, core__common_neighbours_dot_h='// class TextUtils {\n',
                          core__x_dot_cc='class CommonNeighbours {};\nclass ManagerId;\n')

    def test_nouns(self):
        rule = rules.check_nouns
        folder = {f'core__n{i}{end}': '' for i in range(20)
                  for end in ('_dot_h', '_dot_cc', '_test_dot_cc')}
        self.assert_clean(rule, **folder)
        self.assert_found(rule, '21 nouns', core__more_dot_h='', **folder)

    def test_unnamed(self):
        rule = rules.check_unnamed
        def source(text):
            return f'namespace koios {{\nnamespace {{\n\n{text}\n\n}}  // namespace\n}}\n'
        for text in ('constexpr size_t kMost = 1;', 'struct Part {};', 'enum class Part { kA };',
                     'int Count(int x) {\n  return x;\n}', 'using List = int;'):
            self.assert_found(rule, 'is in core/x.cc, too', core__x_dot_cc=source(text),
                              core__y_dot_cc=source(text.replace('int;', 'long;')))
        overloads = {'core__x_dot_cc': source('int Count(int x) {\n}\nint Count(char x) {\n}')}
        for text in ('int Count(long x,\n          long y) {', 'struct Count {', 'int Count() {',
                     'template <typename T>\nT Count(T x) {'):
            self.assert_found(rule, 'Count is in core/x.cc, too', core__y_dot_cc=source(text),
                              **overloads)
        self.assert_clean(rule, **overloads)
        self.assert_clean(rule, core__x_dot_cc=source('using List = int;\nint Count(int x) {'),
                          core__y_dot_cc=source('using List = int;\nint Counted(long x) {'),
                          core__y_test_dot_cc=source('int Count(int x) {'),
                          storage__z_dot_cc=source('int Count(int x) {'),
                          tests__x__z_dot_cc=source('int Same(int x) {'),
                          tests__y__z_dot_cc=source('int Same(int x) {'))
        self.assert_found(rule, 'is in core/x.cc, too', core__x_dot_cc=source('int Same(int x) {'),
                          core__z__z_dot_cc=source('int Same(int x) {'))

    def test_every_rule_is_in_the_table_and_tested(self):
        names = {name for name in dir(rules) if name.startswith('check_')}
        self.assertEqual(names, {rule.__name__ for rule in rules.RULES})
        tested = {name.replace('test_', 'check_', 1) for name in dir(RuleTest)}
        self.assertLessEqual(names, tested)


class CppTextTest(unittest.TestCase):
    def names(self, text):
        return [tuple(function) for function in functions_of(text)]

    def test_code_has_no_comments_and_literals_and_as_many_lines(self):
        text = 'a /* {\n */ b; // }\n"x\\"{" \'{\' 1\'000 R"x(\n)" { )x"\nz\n'
        self.assertEqual(code_of(text), 'a \n b; \n"" "" 1\'000 ""\n\nz\n')

    def test_functions(self):
        self.assertEqual(self.names('namespace a {\nnamespace {\n\nint F(int x) {\n  return x;\n}\n'
                                    '}  // namespace\n}\n'), [('F', 4, 3)])
        self.assertEqual(self.names('class A : public B<C> {\n public:\n'
                                    '  A(int x) : x_(x), y_{x} {\n  }\n'
                                    '  int y() const { return y_; }\n  int x_ = 0;\n'
                                    '  int y_{1};\n};\n'), [('A', 3, 2), ('y', 5, 1)])
        self.assertEqual(self.names('const Row kRows[] = {\n  {1, F()},\n  {2, G()},\n};\n'
                                    'const std::vector<int> kAll = Make({1, 2});\n'), [])
        self.assertEqual(self.names('template <typename T>\nT Pick(const T& x = {}) {\n}\n'),
                         [('Pick', 1, 3)])
        self.assertEqual(self.names('#define M(x) \\\n  if (x) {\nvoid F() {\n}\n'), [('F', 3, 2)])
        self.assertEqual(self.names('enum class E { kA, kB };\nextern "C" {\nint F();\n}\n'), [])


class SourceTreeTest(unittest.TestCase):
    def test_reads_a_folder_without_git_and_skips_builds(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for path in ('core/x.cc', 'build/dev/y.cc'):
                (root / path).parent.mkdir(parents=True)
                (root / path).write_text('int x;\n')
            (root / 'core/binary').write_bytes(b'\xff\xfe')
            self.assertEqual([file.path for file in read_tree(root).files], ['core/x.cc'])


if __name__ == '__main__':
    unittest.main()
