// Documents of the values that list their fields: each visitor is instantiated here alone.
#include "core/chosen/deployment.hpp"
#include "core/chosen/untried.hpp"
#include "core/chosen/winner.hpp"
#include "core/device.hpp"
#include "core/fields/json_visitor.hpp"
#include "core/json/json.hpp"
#include "core/measured/duet.hpp"
#include "core/measured/engine_step.hpp"
#include "core/measured/validation.hpp"

namespace halmark {

template <ListedValue T>
void to_json(Json& out, const T& value) {
  json_fields::Writer writer(out);
  fields(writer, value);
}
template <ListedValue T>
void from_json(const Json& in, T& value) {
  json_fields::Reader reader(in);
  fields(reader, value);
}

#define HALMARK_DOCUMENT(T)               \
  template void to_json(Json&, const T&); \
  template void from_json(const Json&, T&);
HALMARK_DOCUMENT(Problem)
HALMARK_DOCUMENT(KernelCase)
HALMARK_DOCUMENT(StateInterval)
HALMARK_DOCUMENT(Signal)
HALMARK_DOCUMENT(Implementation)
HALMARK_DOCUMENT(OneTimeCost)
HALMARK_DOCUMENT(Correctness)
HALMARK_DOCUMENT(Measurement)
HALMARK_DOCUMENT(Workload)
HALMARK_DOCUMENT(Parallel)
HALMARK_DOCUMENT(LayerGroup)
HALMARK_DOCUMENT(RequestShape)
HALMARK_DOCUMENT(ServedLoad)
HALMARK_DOCUMENT(ServingFigures)
HALMARK_DOCUMENT(ServedEstimate)
HALMARK_DOCUMENT(Configuration)
HALMARK_DOCUMENT(OperatorShare)
HALMARK_DOCUMENT(Estimate)
HALMARK_DOCUMENT(Evaluation)
HALMARK_DOCUMENT(MemoryCause)
HALMARK_DOCUMENT(RoleMemory)
HALMARK_DOCUMENT(ProportionalSet)
HALMARK_DOCUMENT(MemoryOfRank)
HALMARK_DOCUMENT(MeasuredMemory)
HALMARK_DOCUMENT(Duet)
HALMARK_DOCUMENT(EngineStep)
HALMARK_DOCUMENT(EngineImport)
HALMARK_DOCUMENT(Variant)
HALMARK_DOCUMENT(VariantTime)
HALMARK_DOCUMENT(Winner)
HALMARK_DOCUMENT(Composition)
HALMARK_DOCUMENT(Untried)
HALMARK_DOCUMENT(UntriedConfiguration)
HALMARK_DOCUMENT(Validation)
HALMARK_DOCUMENT(Device)
HALMARK_DOCUMENT(Stack)
HALMARK_DOCUMENT(SearchedFront)
#undef HALMARK_DOCUMENT

}  // namespace halmark
