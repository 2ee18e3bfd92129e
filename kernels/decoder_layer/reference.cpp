// Every step's result may be rounded to the layer's type or be kept in f32: the error allows the
// rounding. Rows of a sequence share the keys and values in front of them, and all rows of a call
// share one reading of each weight, which is what the time goes into.
#include "kernels/decoder_layer/reference.hpp"
#include "core/lists.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/norm.hpp"
#include "kernels/rows.hpp"
#include "kernels/tolerance.hpp"

namespace halmark::decoder_layer {
namespace {

std::size_t index_of(std::int64_t value) { return as_size(value); }

// accumulation_error holds four standard deviations.
double spread_of_sum(double n, double magnitude) {
  return accumulation_error(n, magnitude) / accumulation_factor;
}

Row zeros(std::int64_t width) {
  return {std::vector<double>(index_of(width)), std::vector<double>(index_of(width))};
}

void add_to(Row& sum, const Row& other) {
  for (const auto i : indices(sum.value)) {
    sum.value[i] += other.value[i];
    sum.error[i] = std::hypot(sum.error[i], other.error[i]);
  }
}

// silu(gate) * up.
void gate(Row& gated, const Row& up) {
  for (const auto i : indices(gated.value)) {
    const double g = gated.value[i], u = up.value[i];
    const double logistic = 1 / (1 + std::exp(-g)), act = g * logistic;
    const double slope = logistic * (1 + g * (1 - logistic));
    const double from_gate = slope * u * gated.error[i], from_up = act * up.error[i];
    gated.value[i] = act * u;
    gated.error[i] = std::hypot(std::hypot(from_gate, from_up), transcendental_error * act * u);
  }
}

}  // namespace

void Reference::round(Row& row) const {
  const double unit = unit_roundoff(dtype_);
  for (const auto i : indices(row.value)) {
    row.error[i] = std::hypot(row.error[i], unit * std::fabs(row.value[i]));
  }
}

Row Reference::source_row(std::int64_t row) const {
  Row out = zeros(shape_.hidden);
  out.value = read_row(inputs_, rank_, source, row * shape_.hidden, shape_.hidden);
  return out;
}

Row Reference::norm(const Row& x, Operand gain) const {
  const auto gains = read_row(inputs_, rank_, gain, 0, shape_.hidden);
  const auto n = as_double(shape_.hidden);
  double squares = 0, moved = 0;  // of the sum, by the errors of x
  for (const auto i : indices(x.value)) {
    squares += x.value[i] * x.value[i];
    moved += x.value[i] * x.error[i] * x.value[i] * x.error[i];
  }
  const double inverse = 1 / std::sqrt(squares / n + norm_epsilon);
  const double relative =
      std::hypot(inverse_root_error(spread_of_sum(n, 1)), std::sqrt(moved) / (squares + 1e-300));
  Row out = x;
  for (const auto i : indices(x.value)) {
    const double factor = inverse * gains[i];
    out.value[i] *= factor;
    out.error[i] = std::hypot(out.error[i] * factor, relative * out.value[i]);
  }
  round(out);
  return out;
}

std::vector<Row> Reference::normed_sources(std::int64_t sequence, std::int64_t tokens) const {
  std::vector<Row> out;
  for (const std::int64_t i : below(tokens)) {
    out.push_back(norm(source_row(sequence * shape_.new_tokens + i), attention_gain));
  }
  return out;
}

std::vector<Row> Reference::linear(const std::vector<Row>& xs, Operand weight, std::int64_t first,
                                   std::int64_t count) const {
  std::vector<Row> out(xs.size(), zeros(count));
  if (xs.empty()) return out;
  const auto width = as_int64(xs.front().value.size());
  for (const std::int64_t j : below(count)) {
    const auto w = read_row(inputs_, rank_, weight, (first + j) * width, width);
    for (const auto x : indices(xs)) {
      const Product sum = dot(w.data(), xs[x].value.data(), w.size());
      double squares = 0;
      for (const auto i : indices(w)) {
        squares += w[i] * xs[x].error[i] * w[i] * xs[x].error[i];
      }
      out[x].value[index_of(j)] = sum.value;
      out[x].error[index_of(j)] =
          std::hypot(std::sqrt(squares), spread_of_sum(as_double(width), sum.magnitude));
    }
  }
  for (Row& row : out) round(row);
  return out;
}

// Pairs (j, j + head_dim / 2) by the angle of the token.
std::vector<Row> Reference::rotated(std::vector<Row> heads, std::int64_t sequence,
                                    const std::vector<std::int64_t>& tokens) const {
  const std::int64_t half = shape_.head_dim / 2;
  for (const auto x : indices(heads)) {
    const std::int64_t row = sequence * shape_.new_tokens + tokens[x];
    const auto c = read_row(inputs_, rank_, cosine, row * half, half);
    const auto s = read_row(inputs_, rank_, sine, row * half, half);
    Row& head = heads[x];
    for (const auto j : indices(c)) {
      double &a = head.value[j], &b = head.value[j + c.size()];
      double &ea = head.error[j], &eb = head.error[j + c.size()];
      const double first = a * c[j] - b * s[j], second = b * c[j] + a * s[j];
      const double e_first = std::hypot(ea * c[j], eb * s[j]);
      const double e_second = std::hypot(eb * c[j], ea * s[j]);
      const double products = 2 * u_f32 * (std::fabs(a) + std::fabs(b));
      a = first;
      b = second;
      ea = std::hypot(e_first, products);
      eb = std::hypot(e_second, products);
    }
    round(head);
  }
  return heads;
}

std::vector<Row> Reference::cached(Operand cache, std::int64_t sequence,
                                   std::int64_t kv_head) const {
  std::vector<Row> out;
  const std::int64_t d = shape_.head_dim, first = (sequence * shape_.kv_heads + kv_head);
  for (const std::int64_t i : below(shape_.cached())) {
    Row row = zeros(d);
    row.value = read_row(inputs_, rank_, cache, (first * shape_.cached() + i) * d, d);
    out.push_back(std::move(row));
  }
  return out;
}

Reference::Head Reference::head(std::int64_t sequence, std::int64_t kv_head,
                                const std::vector<Row>& sources) const {
  const std::int64_t d = shape_.head_dim;
  std::vector<std::int64_t> tokens(sources.size());
  std::iota(tokens.begin(), tokens.end(), 0);
  const auto keys =
      rotated(linear(sources, qkv_weight, (shape_.heads + kv_head) * d, d), sequence, tokens);
  const auto values =
      linear(sources, qkv_weight, (shape_.heads + shape_.kv_heads + kv_head) * d, d);
  Head out{cached(key_cache, sequence, kv_head), cached(value_cache, sequence, kv_head)};
  append_all(out.keys, keys);
  append_all(out.values, values);
  return out;
}

// sum p_j v_j with p = softmax(scores): an error e_j of a score moves the result by
// p_j e_j (v_j - sum p v). Scores and weights may be rounded on the way.
Row Reference::attended(const Row& query, const Head& head, std::int64_t keys) const {
  const auto d = as_double(shape_.head_dim);
  const double unit = unit_roundoff(dtype_), scale = 1 / std::sqrt(d);
  std::vector<double> p(index_of(keys)), error(index_of(keys));
  for (const auto j : indices(p)) {
    const Row& key = head.keys[j];
    const Product score = dot(query.value.data(), key.value.data(), key.value.size());
    double squares = 0;
    for (const auto i : indices(key.value)) {
      const double from_key = query.value[i] * key.error[i];
      const double from_query = key.value[i] * query.error[i];
      squares += from_key * from_key + from_query * from_query;
    }
    p[j] = score.value * scale;
    error[j] = std::sqrt(squares) * scale + spread_of_sum(d, score.magnitude * scale) +
               unit * std::fabs(p[j]) + transcendental_error + unit;
  }
  const double highest = *std::ranges::max_element(p);
  double sum = 0;
  for (double& weight : p) sum += weight = std::exp(weight - highest);
  Row out = zeros(shape_.head_dim);
  for (std::size_t c = 0; c < out.value.size(); ++c) {
    double value = 0, magnitude = 0, squares = 0;
    for (const auto j : indices(p)) {
      value += p[j] / sum * head.values[j].value[c];
      magnitude += p[j] / sum * std::fabs(head.values[j].value[c]);
    }
    for (const auto j : indices(p)) {
      const double weight = p[j] / sum, apart = head.values[j].value[c] - value;
      squares +=
          std::pow(weight * error[j] * apart, 2) + std::pow(weight * head.values[j].error[c], 2);
    }
    out.value[c] = value;
    out.error[c] =
        std::sqrt(squares) + unit * magnitude + spread_of_sum(as_double(keys), magnitude);
  }
  round(out);
  return out;
}

std::vector<Row> Reference::attention(std::int64_t sequence,
                                      const std::vector<std::int64_t>& tokens) const {
  const std::int64_t d = shape_.head_dim, group = shape_.heads / shape_.kv_heads;
  const auto sources = normed_sources(sequence, tokens.back() + 1);
  std::vector<Row> asking, out(tokens.size(), zeros(shape_.heads * d));
  for (const std::int64_t token : tokens) asking.push_back(sources[index_of(token)]);
  for (const std::int64_t kv_head : below(shape_.kv_heads)) {
    const Head shared = head(sequence, kv_head, sources);
    for (std::int64_t h = kv_head * group; h < (kv_head + 1) * group; ++h) {
      const auto queries = rotated(linear(asking, qkv_weight, h * d, d), sequence, tokens);
      for (const auto x : indices(tokens)) {
        const Row part = attended(queries[x], shared, shape_.cached() + tokens[x] + 1);
        std::ranges::copy(part.value, out[x].value.begin() + h * d);
        std::ranges::copy(part.error, out[x].error.begin() + h * d);
      }
    }
  }
  return linear(out, out_weight, 0, shape_.hidden);
}

std::vector<Row> Reference::network(const std::vector<Row>& xs) const {
  std::vector<Row> normed = mapped(xs, [&](const Row& x) { return norm(x, ffn_gain); });
  auto gated = linear(normed, gate_up_weight, 0, shape_.intermediate);
  const auto up = linear(normed, gate_up_weight, shape_.intermediate, shape_.intermediate);
  for (const auto x : indices(gated)) {
    gate(gated[x], up[x]);
    round(gated[x]);
  }
  return linear(gated, down_weight, 0, shape_.hidden);
}

std::vector<Row> Reference::results(std::int64_t sequence,
                                    const std::vector<std::int64_t>& tokens) const {
  std::vector<Row> rows = attention(sequence, tokens);
  for (const auto x : indices(rows)) {
    add_to(rows[x], source_row(sequence * shape_.new_tokens + tokens[x]));
    round(rows[x]);
  }
  const auto branch = network(rows);
  for (const auto x : indices(rows)) add_to(rows[x], branch[x]);
  return rows;
}

Row Reference::new_key(std::int64_t sequence, std::int64_t kv_head, std::int64_t token) const {
  const std::int64_t d = shape_.head_dim;
  const std::vector sources{norm(source_row(sequence * shape_.new_tokens + token), attention_gain)};
  return rotated(linear(sources, qkv_weight, (shape_.heads + kv_head) * d, d), sequence, {token})
      .front();
}

Row Reference::new_value(std::int64_t sequence, std::int64_t kv_head, std::int64_t token) const {
  const std::int64_t d = shape_.head_dim, first = shape_.heads + shape_.kv_heads + kv_head;
  const std::vector sources{norm(source_row(sequence * shape_.new_tokens + token), attention_gain)};
  return linear(sources, qkv_weight, first * d, d).front();
}

}  // namespace halmark::decoder_layer
