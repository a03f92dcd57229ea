// Does it hold here? Every key, one by one.
#include "plan/holds.h"

#include <gmock/gmock.h>

#include "tests/plan/fixture.h"

namespace tare::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Here here() {
  Here same;
  same.machine = report::samples::header().machine;
  same.modules = fixture::plan().keys.modules;
  return same;
}

TEST(Holds, WhereEverythingIsAsItWas) {
  EXPECT_THAT(reasons_against(fixture::plan(), here()), IsEmpty());
  Here more = here();  // a library that has no part in it
  more.modules.push_back({"mkl", "MKL 2026", "1"});
  more.machine.kernel = "another";
  more.machine.available_bytes = 1;
  EXPECT_THAT(reasons_against(fixture::plan(), more), IsEmpty());
}

TEST(Holds, NotOnAnotherMachine) {
  Here other = here();
  other.machine.processor = "Intel Xeon";
  EXPECT_THAT(reasons_against(fixture::plan(), other),
              ElementsAre(HasSubstr("AMD EPYC 9R14, and this is Intel Xeon")));
  other = here();
  other.machine.cores = 64;
  EXPECT_THAT(reasons_against(fixture::plan(), other), ElementsAre(HasSubstr("2 cores")));
  other = here();
  other.machine.threads = 1;
  EXPECT_THAT(reasons_against(fixture::plan(), other), ElementsAre(HasSubstr("2 threads")));
  other = here();
  other.machine.isa.avx512_bf16 = false;
  EXPECT_THAT(reasons_against(fixture::plan(), other),
              ElementsAre(HasSubstr("avx512_bf16, and here are none")));
  other = here();
  other.accelerator = "NVIDIA H200, driver 590";
  EXPECT_THAT(reasons_against(fixture::plan(), other),
              ElementsAre(HasSubstr("the processor, and here is NVIDIA H200")));
}

TEST(Holds, NotWithOtherLibraries) {
  Here other = here();
  other.modules[0].title = "oneDNN 3.14";
  EXPECT_THAT(reasons_against(fixture::plan(), other),
              ElementsAre(HasSubstr("oneDNN 2.6.3 was weighed, and oneDNN 3.14 is here")));
  other = here();
  other.modules[1].digest = "another";
  EXPECT_THAT(reasons_against(fixture::plan(), other), ElementsAre(HasSubstr("built anew")));
  other.modules.clear();
  EXPECT_EQ(reasons_against(fixture::plan(), other).size(), 2u);
}

}  // namespace
}  // namespace tare::plan
