// Integer constants where an instruction reads a predicate (PTX ISA, predicate constants: 0 is false), and !p in logic of predicates.
#include <gtest/gtest.h>

#include "support/ptx_run.h"

namespace drywell::test {
namespace {

std::vector<Column> run(const std::string& body, const std::string& output) {
  const Column a = integer_values(32, 32, 1), b = integer_values(32, 32, 2);
  return run_lanes(body, {output}, {"w1", "w2"}, {a, b}, {"p0", "p1", "p2"});
}

TEST(PredicateConstants, Selection) {
  EXPECT_EQ(run("selp.b32 w0, w1, w2, 1;", "w0")[0], integer_values(32, 32, 1));
  EXPECT_EQ(run("selp.b32 w0, w1, w2, 0;", "w0")[0], integer_values(32, 32, 2));
  EXPECT_EQ(run("selp.b32 w0, w1, w2, 8;", "w0")[0], integer_values(32, 32, 1));
}

TEST(PredicateConstants, ComparisonsCombineThem) {
  EXPECT_EQ(run("setp.lo.and.u32 p0, w1, w2, 0;\nselp.b32 w0, 5, 6, p0;", "w0")[0], Column(32, 6));
  EXPECT_EQ(run("setp.lo.or.u32 p0, w1, w2, 1;\nselp.b32 w0, 5, 6, p0;", "w0")[0], Column(32, 5));
  EXPECT_EQ(run("setp.ne.and.u32 p0|p1, w1, w1, 1;\nselp.b32 w0, 5, 6, p1;", "w0")[0], Column(32, 5));
}

TEST(PredicateConstants, VotesAndReductions) {
  EXPECT_EQ(run("vote.sync.ballot.b32 w0, 1, 0xFFFFFFFF;", "w0")[0], Column(32, 0xFFFFFFFF));
  EXPECT_EQ(run("vote.sync.any.pred p0, 0, 0xFFFFFFFF;\nselp.b32 w0, 5, 6, p0;", "w0")[0], Column(32, 6));
  EXPECT_EQ(run("bar.red.and.pred p0, 0, 1;\nselp.b32 w0, 5, 6, p0;", "w0")[0], Column(32, 5));
  EXPECT_EQ(run("bar.red.popc.u32 w0, 0, 0;", "w0")[0], Column(32, 0));
}

TEST(NegatedPredicates, InLogic) {
  const std::string set = "setp.ne.u32 p0, w1, w1;\n";  // false
  EXPECT_EQ(run(set + "or.pred p1, !p0, p0;\nselp.b32 w0, 5, 6, p1;", "w0")[0], Column(32, 5));
  EXPECT_EQ(run(set + "and.pred p1, !p0, !p0;\nselp.b32 w0, 5, 6, p1;", "w0")[0], Column(32, 5));
  EXPECT_EQ(run(set + "xor.pred p1, !p0, 1;\nselp.b32 w0, 5, 6, p1;", "w0")[0], Column(32, 6));
  EXPECT_EQ(run(set + "not.pred p1, !p0;\nselp.b32 w0, 5, 6, p1;", "w0")[0], Column(32, 6));
  EXPECT_EQ(run(set + "mov.pred p1, !p0;\nselp.b32 w0, 5, 6, p1;", "w0")[0], Column(32, 5));
}

}  // namespace
}  // namespace drywell::test
