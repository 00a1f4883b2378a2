# What of the server links no gRPC, for the sanitizers; otherwise koios_server_test has all of it.
if(KOIOS_SANITIZE)
  set(session graphs plan_cache profile query_registry result_encoder submit_session
    submit_session_launch submit_session_queue task_pool admission/admission admission/query_cost
    rpc/text_bounds)
  list(TRANSFORM session PREPEND server/)
  set(session_tests graphs plan_cache profile query_registry result_encoder submit_session
    submit_session_queue task_pool admission/admission admission/query_cost)
  list(TRANSFORM session_tests PREPEND server/)
  list(TRANSFORM session APPEND .cc)
  list(TRANSFORM session_tests APPEND _test.cc)
  add_executable(koios_session_test ${session} ${session_tests})
  target_link_libraries(koios_session_test PRIVATE koios_engine koios_planner koios_parser
    koios_storage koios_proto GTest::gtest GTest::gmock GTest::gtest_main)
  koios_own_code(koios_session_test)
  add_test(NAME session COMMAND koios_session_test)
  set_tests_properties(session PROPERTIES COST 80)
  set_tests_properties(session PROPERTIES WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
endif()
