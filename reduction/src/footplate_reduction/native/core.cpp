// The fast engine: sums, a reducer's lane, a worker's sender; a C interface to them at the end.
//
// PROTOCOL.md says what travels and what is added in which order. Sockets come greeted, and set
// to fail when nothing is heard for too long. Nothing that a peer sends is trusted. What ends a
// group is thrown as a Loss; the C interface lets no exception out.

#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "frames are little-endian");

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

Clock::duration seconds(double count) {
  return std::chrono::duration_cast<Clock::duration>(Seconds(std::min(count, 1e8)));
}

// ---- What travels ------------------------------------------------------------------------

enum class FrameType : uint8_t { data = 4, result = 5, error = 6, bye = 7 };
enum class Wire : uint8_t { float32, float16, bfloat16, float64 };
enum class Op : uint8_t { sum, average };

constexpr uint32_t magic = 0x31525046;  // FPR1
constexpr uint32_t nobody = 0xFFFFFFFF;
constexpr size_t longest_error = 1024;
constexpr size_t longest_chunk = size_t{4} << 20;
constexpr size_t most_chunks_ahead = 1024;

struct Header {
  uint32_t magic = ::magic;
  FrameType type{};
  Wire wire{};
  Op op{};
  uint8_t flags = 0;
  uint32_t seq = 0;
  uint32_t nbytes = 0;
  uint64_t offset = 0;
  uint32_t rank = 0;
  uint32_t total = 0;
};
static_assert(sizeof(Header) == 32);

size_t item_bytes(Wire wire) {
  constexpr std::array<size_t, 4> bytes{4, 2, 2, 8};
  return bytes[static_cast<size_t>(wire)];
}

bool is_frame(const Header& header) {
  return header.magic == magic && header.flags == 0 && header.wire <= Wire::float64 &&
         header.op <= Op::average;
}

bool same_chunk(const Header& one, const Header& other) {
  return one.seq == other.seq && one.offset == other.offset && one.nbytes == other.nbytes &&
         one.total == other.total && one.wire == other.wire && one.op == other.op;
}

std::string in_seconds(double count) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%g s", count);
  return text.data();
}

std::string describe(const Header& header) {
  constexpr std::array<const char*, 4> wires{"float32", "float16", "bfloat16", "float64"};
  return std::to_string(header.nbytes) + " bytes at " + std::to_string(header.offset) + " of " +
         std::to_string(header.total) + " elements of " + wires[static_cast<size_t>(header.wire)] +
         (header.op == Op::sum ? " (sum)" : " (average)") + " in collective " +
         std::to_string(header.seq);
}

/// What has ended the group. `silent`: nothing was heard of the other side for too long.
struct Loss {
  std::string why;
  uint32_t culprit = nobody;
  bool silent = false;
};

/// A connection is of no further use: by `error`, or at the end of its stream where that is 0.
struct Broken {
  int error = 0;

  bool silent() const {
    return error == ETIMEDOUT || error == EHOSTUNREACH || error == ENETUNREACH ||
           error == ENETDOWN || error == EHOSTDOWN;
  }
};

// ---- Sums --------------------------------------------------------------------------------
//
// A few vectors of elements stay in registers while the workers' parts are added one after the
// other. The code is plain, and compiled once for each set of instructions. (AVX-512 adds nothing
// faster but bfloat16, where it saves 0.02 s per GB beside 0.6 s of the kernel's.)

struct Parts {
  const void* const* data;
  uint32_t world;
  size_t count;  // elements of each
  bool average;
};

using Sum = void (*)(void* out, const Parts& parts);
using Cast = void (*)(const void* from, void* to, size_t count);

constexpr size_t vector_bytes = 32;

template <class Number>
struct VectorOf {
  using Type __attribute__((vector_size(vector_bytes))) = Number;
  using Anywhere __attribute__((vector_size(vector_bytes), aligned(1), may_alias)) = Number;
  using One __attribute__((aligned(1), may_alias)) = Number;
};
template <class Number>
using Vector = typename VectorOf<Number>::Type;
template <class Number>
using Anywhere = typename VectorOf<Number>::Anywhere;  // in memory, at any address
template <class Number>
using One = typename VectorOf<Number>::One;  // as well
using Words = Vector<uint32_t>;

/// What is in registers at once.
template <class Number>
struct Tile {
  static constexpr size_t lanes = vector_bytes / sizeof(Number);
  static constexpr size_t size = 4 * lanes;
  Vector<Number> vectors[4];
};

#define FOOTPLATE_INLINE [[gnu::always_inline]] static inline

template <class To, class From>
To bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

/// An element that is added as it travels.
template <class Number>
struct Plain {
  using Stored = Number;
  using Added = Number;

  FOOTPLATE_INLINE Number widen(Number from) { return from; }
  FOOTPLATE_INLINE Number narrow(Number from) { return from; }
  FOOTPLATE_INLINE void load(const Number* from, Tile<Number>& to) {
    const auto* vectors = reinterpret_cast<const Anywhere<Number>*>(from);
    for (size_t i = 0; i < 4; i++) to.vectors[i] = vectors[i];
  }
  FOOTPLATE_INLINE void store(const Tile<Number>& from, Number* to) {
    auto* vectors = reinterpret_cast<Anywhere<Number>*>(to);
    for (size_t i = 0; i < 4; i++) vectors[i] = from.vectors[i];
  }
};

/// A tile has elements of even places in vectors 0 and 2, of odd ones in 1 and 3: no shuffling.
struct Bfloat16 {
  using Stored = uint16_t;
  using Added = float;

  FOOTPLATE_INLINE float widen(uint16_t from) { return bits<float>(uint32_t{from} << 16); }
  FOOTPLATE_INLINE uint16_t narrow(float from) {
    const auto word = bits<uint32_t>(from);
    const uint32_t rounded = (word + 0x7FFF + ((word >> 16) & 1)) >> 16;
    const bool nan = (word & 0x7FFFFFFF) > 0x7F800000;
    return static_cast<uint16_t>(nan ? (word >> 16) | 0x40 : rounded);
  }
  FOOTPLATE_INLINE void load(const uint16_t* from, Tile<float>& to) {
    for (size_t i = 0; i < 4; i += 2) {
      const Words pairs = reinterpret_cast<const Anywhere<uint32_t>*>(from)[i / 2];
      to.vectors[i] = reinterpret_cast<Vector<float>>(pairs << 16);
      to.vectors[i + 1] = reinterpret_cast<Vector<float>>(pairs & 0xFFFF0000);
    }
  }
  FOOTPLATE_INLINE void store(const Tile<float>& from, uint16_t* to) {
    Words even, odd;
    for (size_t i = 0; i < 4; i += 2) {
      round(from.vectors[i], even);
      round(from.vectors[i + 1], odd);
      reinterpret_cast<Anywhere<uint32_t>*>(to)[i / 2] = even >> 16 | odd;
    }
  }

 private:
  /// In the upper halves of words.
  FOOTPLATE_INLINE void round(const Vector<float>& from, Words& to) {
    const auto words = reinterpret_cast<Words>(from);
    const Words near = words + 0x7FFF + ((words >> 16) & 1);
    const auto nan = (words & 0x7FFFFFFF) > 0x7F800000;
    to = (nan ? words | 0x400000 : near) & 0xFFFF0000;
  }
};

/// IEEE half precision by whole numbers alone: for machines whose instructions lack it.
struct Float16 {
  using Stored = uint16_t;
  using Added = float;

  static float widen(uint16_t half) {
    const uint32_t sign = uint32_t{half & 0x8000u} << 16;
    const uint32_t rest = half & 0x7FFF;
    if (rest >= 0x7C00) {  // infinity, or NaN, which becomes a quiet one
      const uint32_t quiet = rest > 0x7C00 ? 0x400000 : 0;
      return bits<float>(sign | 0x7F800000 | quiet | ((rest & 0x3FF) << 13));
    }
    if (rest >= 0x400) return bits<float>(sign | ((rest << 13) + (112u << 23)));
    return bits<float>(sign | bits<uint32_t>(static_cast<float>(rest) * 0x1p-24f));
  }

  static uint16_t narrow(float number) {
    const auto word = bits<uint32_t>(number);
    const uint32_t sign = (word >> 16) & 0x8000;
    const uint32_t rest = word & 0x7FFFFFFF;
    return static_cast<uint16_t>(sign | narrow_positive(rest));
  }

  static void load(const One<uint16_t>* from, Tile<float>& to) {
    for (size_t i = 0; i < to.size; i++) to.vectors[i / to.lanes][i % to.lanes] = widen(from[i]);
  }
  static void store(const Tile<float>& from, One<uint16_t>* to) {
    for (size_t i = 0; i < from.size; i++)
      to[i] = narrow(from.vectors[i / from.lanes][i % from.lanes]);
  }

 private:
  static uint32_t narrow_positive(uint32_t word) {
    if (word > 0x7F800000) return 0x7E00 | ((word >> 13) & 0x3FF);
    if (word >= 0x477FF000) return 0x7C00;  // 65520 and more
    if (word >= 0x38800000) {               // normal: round at bit 13
      const uint32_t rounded = word + 0xFFF + ((word >> 13) & 1);
      return (rounded - (112u << 23)) >> 13;
    }
    // Subnormal: in a sum with 0.5 the last bits are those of the half, rounded as sums are.
    return bits<uint32_t>(bits<float>(word) + 0.5f) - bits<uint32_t>(0.5f);
  }
};

template <class Element>
FOOTPLATE_INLINE void add_tile(void* out, const Parts& parts, size_t begin) {
  using Stored = typename Element::Stored;
  using Added = typename Element::Added;
  Tile<Added> sum, term;
  Element::load(static_cast<const Stored*>(parts.data[0]) + begin, sum);
  for (uint32_t rank = 1; rank < parts.world; rank++) {
    Element::load(static_cast<const Stored*>(parts.data[rank]) + begin, term);
    for (size_t i = 0; i < 4; i++) sum.vectors[i] += term.vectors[i];
  }
  if (parts.average)
    for (auto& vector : sum.vectors) vector /= static_cast<Added>(parts.world);
  Element::store(sum, static_cast<Stored*>(out) + begin);
}

template <class Element>
FOOTPLATE_INLINE void add_one(void* out, const Parts& parts, size_t index) {
  using Stored = typename Element::Stored;
  const auto part = [&](uint32_t rank) {
    return Element::widen(static_cast<const One<Stored>*>(parts.data[rank])[index]);
  };
  auto sum = part(0);
  for (uint32_t rank = 1; rank < parts.world; rank++) sum += part(rank);
  if (parts.average) sum /= static_cast<typename Element::Added>(parts.world);
  static_cast<One<Stored>*>(out)[index] = Element::narrow(sum);
}

/// `out` may be the first of the parts.
template <class Element>
FOOTPLATE_INLINE void add_in_order(void* out, const Parts& parts) {
  constexpr size_t at_once = Tile<typename Element::Added>::size;
  size_t i = 0;
  for (; i + at_once <= parts.count; i += at_once) add_tile<Element>(out, parts, i);
  for (; i < parts.count; i++) add_one<Element>(out, parts, i);
}

template <class Element>
FOOTPLATE_INLINE void widen_all(const void* from, void* to, size_t count) {
  const auto* halves = static_cast<const One<uint16_t>*>(from);
  auto* floats = static_cast<One<float>*>(to);
  for (size_t i = 0; i < count; i++) floats[i] = Element::widen(halves[i]);
}

template <class Element>
FOOTPLATE_INLINE void narrow_all(const void* from, void* to, size_t count) {
  const auto* floats = static_cast<const One<float>*>(from);
  auto* halves = static_cast<One<uint16_t>*>(to);
  for (size_t i = 0; i < count; i++) halves[i] = Element::narrow(floats[i]);
}

/// What a machine's instructions make of the above; by Wire where there are several.
struct Arithmetic {
  const char* name;
  std::array<Sum, 4> sum;
  std::array<Cast, 4> widen;   // to float32; of float16 and bfloat16 only
  std::array<Cast, 4> narrow;  // from float32
};

constexpr Arithmetic baseline_arithmetic{
    "baseline",
    {add_in_order<Plain<float>>, add_in_order<Float16>, add_in_order<Bfloat16>,
     add_in_order<Plain<double>>},
    {nullptr, widen_all<Float16>, widen_all<Bfloat16>, nullptr},
    {nullptr, narrow_all<Float16>, narrow_all<Bfloat16>, nullptr}};

#if defined(__x86_64__)

#define FOOTPLATE_AVX2 [[gnu::target("avx2,f16c")]]

/// Eight at once by instructions that are made for it.
struct Float16Avx2 : Float16 {
  FOOTPLATE_AVX2 static void widen_eight(const uint16_t* from, void* to) {
    const auto halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    _mm256_storeu_ps(static_cast<float*>(to), _mm256_cvtph_ps(halves));
  }
  FOOTPLATE_AVX2 static void narrow_eight(const void* from, uint16_t* to) {
    const auto floats = _mm256_loadu_ps(static_cast<const float*>(from));
    const auto halves = _mm256_cvtps_ph(floats, _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), halves);
  }
  FOOTPLATE_AVX2 static void load(const uint16_t* from, Tile<float>& to) {
    for (size_t i = 0; i < 4; i++) widen_eight(from + 8 * i, &to.vectors[i]);
  }
  FOOTPLATE_AVX2 static void store(const Tile<float>& from, uint16_t* to) {
    for (size_t i = 0; i < 4; i++) narrow_eight(&from.vectors[i], to + 8 * i);
  }
};

template <class Element>
FOOTPLATE_AVX2 void add_in_order_avx2(void* out, const Parts& parts) {
  add_in_order<Element>(out, parts);
}
FOOTPLATE_AVX2 void widen_float16_avx2(const void* from, void* to, size_t count) {
  const auto* halves = static_cast<const One<uint16_t>*>(from);
  auto* floats = static_cast<One<float>*>(to);
  size_t i = 0;
  for (; i + 8 <= count; i += 8) Float16Avx2::widen_eight(halves + i, floats + i);
  for (; i < count; i++) floats[i] = Float16::widen(halves[i]);
}
FOOTPLATE_AVX2 void narrow_float16_avx2(const void* from, void* to, size_t count) {
  const auto* floats = static_cast<const One<float>*>(from);
  auto* halves = static_cast<One<uint16_t>*>(to);
  size_t i = 0;
  for (; i + 8 <= count; i += 8) Float16Avx2::narrow_eight(floats + i, halves + i);
  for (; i < count; i++) halves[i] = Float16::narrow(floats[i]);
}
FOOTPLATE_AVX2 void widen_bfloat16_avx2(const void* from, void* to, size_t count) {
  widen_all<Bfloat16>(from, to, count);
}
FOOTPLATE_AVX2 void narrow_bfloat16_avx2(const void* from, void* to, size_t count) {
  narrow_all<Bfloat16>(from, to, count);
}

constexpr Arithmetic avx2_arithmetic{
    "avx2",
    {add_in_order_avx2<Plain<float>>, add_in_order_avx2<Float16Avx2>, add_in_order_avx2<Bfloat16>,
     add_in_order_avx2<Plain<double>>},
    {nullptr, widen_float16_avx2, widen_bfloat16_avx2, nullptr},
    {nullptr, narrow_float16_avx2, narrow_bfloat16_avx2, nullptr}};

const Arithmetic& best_arithmetic() {
  __builtin_cpu_init();
  const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c");
  return has ? avx2_arithmetic : baseline_arithmetic;
}

#else

const Arithmetic& best_arithmetic() { return baseline_arithmetic; }

#endif

const Arithmetic& arithmetic() {
  static const Arithmetic& chosen = best_arithmetic();
  return chosen;
}

void add(const Header& what, void* out, const void* const* parts, uint32_t world) {
  const size_t count = what.nbytes / item_bytes(what.wire);
  arithmetic().sum[static_cast<size_t>(what.wire)](
      out, Parts{parts, world, count, what.op == Op::average});
}

// ---- What is owned -----------------------------------------------------------------------

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() { close(); }

  int get() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

Fd checked(int fd) {
  if (fd < 0) throw std::system_error(errno, std::generic_category());
  return Fd(fd);
}

/// Bytes that nobody has written yet.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(size_t size) : bytes_(new char[size]), size_(size) {}
  Buffer(Buffer&& other) noexcept
      : bytes_(std::move(other.bytes_)), size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    bytes_ = std::move(other.bytes_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }
  char* data() const { return bytes_.get(); }
  size_t size() const { return size_; }

 private:
  std::unique_ptr<char[]> bytes_;
  size_t size_ = 0;
};

/// Buffers that were used are warm: they are given out again, the last one first.
class Pool {
 public:
  Buffer take(size_t size) {
    if (spare_.empty()) return Buffer(size);
    Buffer buffer = std::move(spare_.back());
    spare_.pop_back();
    spare_bytes_ -= buffer.size();
    return buffer.size() >= size ? std::move(buffer) : Buffer(size);
  }
  void give(Buffer buffer) {
    if (buffer.size() == 0 || spare_bytes_ + buffer.size() > most_spare_bytes) return;
    spare_bytes_ += buffer.size();
    spare_.push_back(std::move(buffer));
  }

 private:
  static constexpr size_t most_spare_bytes = size_t{32} << 20;
  std::vector<Buffer> spare_;
  size_t spare_bytes_ = 0;
};

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

// ---- Frames on a connection --------------------------------------------------------------

/// Takes frames off a connection. Whoever reads checks a header, then says where its payload goes.
class FrameReader {
 public:
  enum class Event { nothing, header, frame };

  Header header;  // of the frame being read

  /// One step further. After `header`, the owner calls `payload_to` before the next one.
  Event advance(int fd) {
    if (in_payload_) {
      if (got_ < header.nbytes && !receive(fd)) return Event::nothing;
      if (got_ < header.nbytes) return Event::nothing;
      in_payload_ = false;
      return Event::frame;
    }
    if (next_got_ < sizeof next_ && !receive(fd)) return Event::nothing;
    if (next_got_ < sizeof next_) return Event::nothing;
    header = next_;
    next_got_ = got_ = 0;
    in_payload_ = true;
    return Event::header;
  }

  void payload_to(char* where) { payload_ = where; }

 private:
  /// The rest of a payload, and the header after it with the same call.
  bool receive(int fd) {
    const size_t missing = in_payload_ ? header.nbytes - got_ : 0;
    std::array<iovec, 2> pieces{
        iovec{in_payload_ ? payload_ + got_ : nullptr, missing},
        iovec{reinterpret_cast<char*>(&next_) + next_got_, sizeof next_ - next_got_}};
    const ssize_t count = ::readv(fd, pieces.data(), 2);
    if (count < 0 && would_block()) return false;
    if (count <= 0) throw Broken{count < 0 ? errno : 0};
    const size_t of_payload = std::min<size_t>(static_cast<size_t>(count), missing);
    got_ += of_payload;
    next_got_ += static_cast<size_t>(count) - of_payload;
    return true;
  }

  bool in_payload_ = false;
  char* payload_ = nullptr;
  size_t got_ = 0;
  Header next_;
  size_t next_got_ = 0;
};

/// Puts frames on a connection, in their order. Their payloads stay their owners'.
class FrameWriter {
 public:
  void add(const Header& header, const char* payload) {
    frames_.push_back({header, payload});
    backlog_ += header.nbytes;
  }

  /// How many frames have left whole now.
  size_t flush(int fd) {
    size_t left = 0;
    while (!frames_.empty()) {
      const ssize_t count = send(fd);
      if (count < 0 && would_block()) break;
      if (count < 0) throw Broken{errno};
      left += account(static_cast<size_t>(count));
    }
    return left;
  }

  size_t frames() const { return frames_.size(); }
  size_t backlog() const { return backlog_; }

  /// Keeps of what is to be sent only the rest of a frame that has left in part, as a copy.
  void cut() {
    if (sent_ == 0) frames_.clear();
    if (frames_.empty()) return;
    frames_.resize(1);
    Frame& front = frames_.front();
    last_ = Buffer(front.header.nbytes);
    std::copy_n(front.payload, front.header.nbytes, last_.data());
    front.payload = last_.data();
  }

  /// A sentence as the last frame; after `cut`.
  void add_error(Header header, const std::string& sentence) {
    const size_t nbytes = std::min(sentence.size(), longest_error);
    words_ = Buffer(nbytes);
    std::copy_n(sentence.data(), nbytes, words_.data());
    header.type = FrameType::error;
    header.nbytes = static_cast<uint32_t>(nbytes);
    add(header, words_.data());
  }

 private:
  struct Frame {
    Header header;
    const char* payload;
    size_t size() const { return sizeof header + header.nbytes; }
  };

  ssize_t send(int fd) {
    std::array<iovec, 32> pieces;
    size_t used = 0;
    size_t skip = sent_;
    for (auto frame = frames_.begin(); frame != frames_.end() && used + 2 <= pieces.size();
         ++frame, skip = 0) {
      const size_t of_header = std::min(skip, sizeof(Header));
      const size_t of_payload = skip - of_header;
      pieces[used++] = {reinterpret_cast<char*>(&frame->header) + of_header,
                        sizeof(Header) - of_header};
      pieces[used++] = {const_cast<char*>(frame->payload) + of_payload,
                        frame->header.nbytes - of_payload};
    }
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = used;
    return ::sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  }

  size_t account(size_t count) {
    size_t left = 0;
    for (sent_ += count; !frames_.empty() && sent_ >= frames_.front().size(); left++) {
      sent_ -= frames_.front().size();
      backlog_ -= frames_.front().header.nbytes;
      frames_.pop_front();
    }
    return left;
  }

  std::deque<Frame> frames_;
  size_t sent_ = 0;  // of the first frame
  size_t backlog_ = 0;
  Buffer last_, words_;
};

/// Connections that are given up once their last words are out.
class Farewell {
 public:
  void add(Fd fd, FrameWriter writer) { parting_.push_back({std::move(fd), std::move(writer)}); }

  /// Sends what there is, ends the streams, and, where `listening`, waits for the others' ends:
  /// a connection that is closed with words unread takes back its own.
  void say(double patience_s, bool listening) {
    const auto until = Clock::now() + seconds(patience_s);
    for (;;) {
      std::vector<pollfd> waiting;
      for (auto& each : parting_) each.go_on(listening, waiting);
      const auto left = std::chrono::duration<double, std::milli>(until - Clock::now()).count();
      if (waiting.empty() || left <= 0) break;
      ::poll(waiting.data(), waiting.size(), static_cast<int>(left) + 1);
    }
  }

  /// Whether no other side has given any sign of life, be it by its end.
  bool nobody_heard() const {
    return std::none_of(parting_.begin(), parting_.end(), [](auto& each) { return each.heard(); });
  }

 private:
  struct Parting {
    Fd fd;
    FrameWriter writer;
    bool sent = false, ended = false, silent = false;

    void go_on(bool listening, std::vector<pollfd>& waiting) {
      if (ended) return;
      try {
        writer.flush(fd.get());
        if (writer.frames() == 0 && !std::exchange(sent, true)) ::shutdown(fd.get(), SHUT_WR);
        if (listening) discard();
        ended = sent && !listening;
      } catch (const Broken& broken) {
        ended = true;
        silent = broken.silent();
      }
      const auto wanted = static_cast<short>((listening ? POLLIN : 0) | (sent ? 0 : POLLOUT));
      if (!ended) waiting.push_back({fd.get(), wanted, 0});
    }

    void discard() {
      std::array<char, 65536> unread;
      const ssize_t count = ::recv(fd.get(), unread.data(), unread.size(), MSG_DONTWAIT);
      if (count == 0 || (count < 0 && !would_block())) throw Broken{count < 0 ? errno : 0};
    }

    bool heard() const {
      if (ended) return !silent;
      int unanswered = 0;
      return ::ioctl(fd.get(), SIOCOUTQ, &unanswered) == 0 && unanswered == 0;
    }
  };

  std::vector<Parting> parting_;
};

/// How long last words may take. Who waits for a result has been told before.
constexpr double farewell_s = 0.5;

class Epoll {
 public:
  Epoll() : fd_(checked(::epoll_create1(EPOLL_CLOEXEC))) {}

  void add(int fd, uint32_t events, uint64_t key) { control(EPOLL_CTL_ADD, fd, events, key); }
  void change(int fd, uint32_t events, uint64_t key) { control(EPOLL_CTL_MOD, fd, events, key); }
  void remove(int fd) { control(EPOLL_CTL_DEL, fd, 0, 0); }

  /// The events until `until`; none when that has come.
  size_t wait(Clock::time_point until, std::array<epoll_event, 64>& events) {
    const auto left = std::chrono::duration<double, std::milli>(until - Clock::now()).count();
    const int patience = static_cast<int>(std::clamp(left + 1, 0.0, 1e6));
    const int count =
        ::epoll_wait(fd_.get(), events.data(), static_cast<int>(events.size()), patience);
    return count < 0 ? 0 : static_cast<size_t>(count);
  }

 private:
  void control(int what, int fd, uint32_t events, uint64_t key) {
    epoll_event event{};
    event.events = events;
    event.data.u64 = key;
    if (::epoll_ctl(fd_.get(), what, fd, &event) < 0)
      throw std::system_error(errno, std::generic_category());
  }

  Fd fd_;
};

// ---- The reducer's side: a lane ----------------------------------------------------------

struct Counters {
  uint64_t received_bytes = 0;
  uint64_t sent_bytes = 0;
  uint64_t collectives = 0;
  double adding_s = 0;
  double waiting_s = 0;
};

enum class Status : int32_t { done = 0, going_on = 1, lost = 2, cut_off = 3, failed = 4 };

/// A chunk, from the first worker's frame of it until all workers have its sum.
struct Chunk {
  Header what;
  Clock::time_point since;
  std::vector<Buffer> parts;  // by rank; the sum takes the first one's place
  uint32_t arrived = 0;
  uint32_t answered = 0;
};

struct Worker {
  Fd fd;
  uint32_t rank = 0;
  FrameReader reader;
  FrameWriter writer;
  std::string words;       // of its ERROR
  uint64_t chunk = 0;      // which one it sends next
  uint64_t answer = 0;     // which one's sum it gets next
  size_t ahead_bytes = 0;  // of its parts of chunks that aren't complete
  bool waiting = false;    // with a part that there was no room for
  bool left = false;       // it said BYE
  uint32_t events = 0;

  std::string name() const { return "worker " + std::to_string(rank); }
};

class Lane {
 public:
  struct Settings {
    std::string name;  // of this reducer, in sentences
    double timeout_s, patience_s;
    size_t window;
    int ending;  // readable when all is to end; never read from
  };

  Lane(std::vector<Fd> fds, Settings settings)
      : settings_(std::move(settings)), workers_(fds.size()), sources_(fds.size()) {
    epoll_.add(settings_.ending, EPOLLIN, fds.size());
    for (uint32_t rank = 0; rank < world(); rank++) {
      workers_[rank].fd = std::move(fds[rank]);
      workers_[rank].rank = rank;
      workers_[rank].events = EPOLLIN;
      epoll_.add(workers_[rank].fd.get(), EPOLLIN, rank);
    }
  }

  /// Goes on for some time, or until all have left or one is lost.
  Status run(int32_t milliseconds) {
    const auto until = Clock::now() + std::chrono::milliseconds(milliseconds);
    try {
      while (!all_left()) {
        if (Clock::now() >= until) return Status::going_on;
        turn(until);
      }
      return Status::done;
    } catch (Loss& loss) {
      loss_ = std::move(loss);
      return end();
    }
  }

  const Loss& loss() const { return loss_; }
  const Counters& counters() const { return counters_; }

 private:
  uint32_t world() const { return static_cast<uint32_t>(workers_.size()); }

  bool all_left() const {
    return std::all_of(workers_.begin(), workers_.end(), [](auto& each) { return each.left; });
  }

  uint64_t begun() const { return first_ + chunks_.size(); }
  Chunk& chunk(uint64_t number) { return chunks_[static_cast<size_t>(number - first_)]; }
  /// The first chunk that some worker's part is missing of.
  Chunk* oldest() { return summed_ < begun() ? &chunk(summed_) : nullptr; }

  /// Of the collective that somebody is at: the one under way, else the last one.
  std::string number() {
    const Chunk* late = oldest();
    return std::to_string(late ? late->what.seq : std::max<int64_t>(last_seq_, 0));
  }

  Clock::time_point deadline(const Chunk& late) const {
    return std::max(late.since, summed_at_) + seconds(settings_.patience_s);
  }

  void turn(Clock::time_point until) {
    std::array<epoll_event, 64> events;
    const auto begin = Clock::now();
    const Chunk* late = oldest();
    if (late) until = std::min(until, deadline(*late));
    const size_t count = epoll_.wait(until, events);
    if (late) counters_.waiting_s += Seconds(Clock::now() - begin).count();
    for (size_t i = 0; i < count; i++) heed(events[i]);
    for (auto& worker : workers_) write(worker);
    for (auto& worker : workers_) listen(worker);
    forget();
    check_leavers();
    check_patience();
  }

  void heed(const epoll_event& event) {
    if (event.data.u64 == world()) throw Loss{"reducer " + settings_.name + " was told to end"};
    Worker& worker = workers_[static_cast<size_t>(event.data.u64)];
    if (event.events & ~static_cast<uint32_t>(EPOLLOUT)) read(worker);
    const bool ended = event.events & (EPOLLERR | EPOLLHUP);
    if (ended && worker.waiting && worker.fd.open()) on_broken(worker, {EPIPE});
  }

  // Reading

  void read(Worker& worker) {
    using Event = FrameReader::Event;
    try {
      while (worker.fd.open()) {
        if (worker.waiting && !has_room(worker)) return;
        if (worker.waiting) place(worker);
        const Event event = worker.reader.advance(worker.fd.get());
        if (event == Event::nothing) return;
        event == Event::header ? on_header(worker) : on_frame(worker);
      }
    } catch (const Broken& broken) {
      on_broken(worker, broken);
    }
  }

  void on_broken(Worker& worker, const Broken& broken) {
    drop(worker);
    std::string why = worker.name() + " was lost at collective " + number();
    if (broken.silent())
      why += "; nothing was heard of it for " + in_seconds(settings_.timeout_s);
    throw Loss{why, worker.rank, broken.silent()};
  }

  [[noreturn]] static void refuse(const Worker& worker, const std::string& what) {
    throw Loss{worker.name() + " sent what no worker may: " + what, worker.rank};
  }

  void on_header(Worker& worker) {
    const Header& header = worker.reader.header;
    if (!is_frame(header)) refuse(worker, "no frame of this protocol");
    if (header.type == FrameType::data) {
      check_part(worker, header);
      worker.waiting = true;
    } else if (header.type == FrameType::error && header.nbytes <= longest_error) {
      worker.words.resize(header.nbytes);
      worker.reader.payload_to(worker.words.data());
    } else if (header.type != FrameType::bye || header.nbytes != 0) {
      refuse(worker, "a frame of a type that is not a worker's");
    }
  }

  void check_part(const Worker& worker, const Header& header) {
    const size_t item = item_bytes(header.wire);
    if (header.rank != worker.rank)
      refuse(worker, "rank " + std::to_string(header.rank) + " in a frame's header");
    if (header.nbytes == 0 || header.nbytes > longest_chunk)
      refuse(worker, "a chunk of " + std::to_string(header.nbytes) + " bytes");
    if (header.nbytes % item || header.offset % item) refuse(worker, "a part of an element");
  }

  /// How far a worker may be ahead of the others, and of its own reading.
  bool has_room(const Worker& worker) const {
    if (worker.writer.backlog() > settings_.window) return false;
    if (worker.chunk == summed_) return true;
    return worker.ahead_bytes + worker.reader.header.nbytes <= settings_.window &&
           worker.chunk - summed_ < most_chunks_ahead;
  }

  /// Finds its part a place in the chunk that it belongs to.
  void place(Worker& worker) {
    const Header& header = worker.reader.header;
    if (worker.chunk == begun()) begin_chunk(header);
    Chunk& target = chunk(worker.chunk);
    if (!same_chunk(target.what, header))
      throw Loss{"workers disagree: worker " + std::to_string(target.what.rank) + " sends " +
                 describe(target.what) + ", and " + worker.name() + " sends " + describe(header)};
    target.parts[worker.rank] = pool_.take(header.nbytes);
    worker.reader.payload_to(target.parts[worker.rank].data());
    worker.waiting = false;
  }

  void begin_chunk(const Header& header) {
    chunks_.emplace_back();
    chunks_.back().what = header;
    chunks_.back().since = Clock::now();
    chunks_.back().parts.resize(world());
  }

  void on_frame(Worker& worker) {
    const Header& header = worker.reader.header;
    if (header.type == FrameType::error) return on_error(worker, header.rank);
    if (header.type == FrameType::bye) return on_bye(worker);
    counters_.received_bytes += header.nbytes;
    worker.ahead_bytes += header.nbytes;
    if (++chunk(worker.chunk++).arrived == world()) sum();
  }

  void on_error(Worker& worker, uint32_t culprit) {
    drop(worker);
    if (culprit != nobody && culprit >= world()) culprit = worker.rank;
    throw Loss{worker.words, culprit};
  }

  void on_bye(Worker& worker) {
    if (worker.chunk > summed_ || worker.writer.frames()) throw gone(worker);
    worker.left = true;
    drop(worker);
  }

  void drop(Worker& worker) {
    epoll_.remove(worker.fd.get());
    worker.fd.close();
  }

  Loss gone(const Worker& worker) {
    return {worker.name() + " left at collective " + number() + ", in which others wait for it",
            worker.rank};
  }

  void check_leavers() {
    if (!oldest()) return;
    for (const auto& worker : workers_)
      if (worker.left) throw gone(worker);
  }

  // Adding. The parts of a worker come in order, so the oldest chunk is complete first.

  void sum() {
    Chunk& complete = chunk(summed_);
    const auto begin = Clock::now();
    for (uint32_t rank = 0; rank < world(); rank++) sources_[rank] = complete.parts[rank].data();
    add(complete.what, complete.parts[0].data(), sources_.data(), world());
    summed_at_ = Clock::now();
    counters_.adding_s += Seconds(summed_at_ - begin).count();
    if (std::exchange(last_seq_, complete.what.seq) != complete.what.seq) counters_.collectives++;
    for (uint32_t rank = 1; rank < world(); rank++) pool_.give(std::move(complete.parts[rank]));
    Header header = complete.what;
    header.type = FrameType::result;
    header.rank = 0;
    for (auto& worker : workers_) {
      worker.ahead_bytes -= header.nbytes;
      worker.writer.add(header, complete.parts[0].data());
    }
    summed_++;
  }

  // Answering

  void write(Worker& worker) {
    if (!worker.fd.open() || worker.writer.frames() == 0) return;
    try {
      for (size_t left = worker.writer.flush(worker.fd.get()); left > 0; left--) {
        Chunk& answered = chunk(worker.answer++);
        answered.answered++;
        counters_.sent_bytes += answered.what.nbytes;
      }
    } catch (const Broken& broken) {
      read(worker);  // its last words may be there
      if (worker.fd.open()) on_broken(worker, broken);
    }
  }

  void listen(Worker& worker) {
    if (!worker.fd.open()) return;
    const bool reading = !worker.waiting || has_room(worker);
    const uint32_t events = (reading ? EPOLLIN : 0u) | (worker.writer.frames() ? EPOLLOUT : 0u);
    if (std::exchange(worker.events, events) != events)
      epoll_.change(worker.fd.get(), events, worker.rank);
  }

  void forget() {
    for (; !chunks_.empty() && chunks_.front().answered == world(); first_++) {
      pool_.give(std::move(chunks_.front().parts[0]));
      chunks_.pop_front();
    }
  }

  // Losing

  void check_patience() {
    const Chunk* late = oldest();
    if (!late || Clock::now() < deadline(*late)) return;
    std::vector<uint32_t> missing;
    for (const auto& worker : workers_)
      if (worker.chunk <= summed_) missing.push_back(worker.rank);
    std::string who = missing.size() == 1 ? "worker " : "workers ";
    for (size_t i = 0; i < missing.size() && i < 16; i++)
      who += (i ? ", " : "") + std::to_string(missing[i]);
    who += missing.size() > 16 ? ", ..." : "";
    throw Loss{who + " sent no part of collective " + number() + " within " +
                   in_seconds(settings_.patience_s) + " of the others",
               missing.at(0)};
  }

  /// Tells all others. Who was cut off itself learns that nobody answers.
  Status end() {
    Farewell farewell;
    Header header;
    header.rank = loss_.culprit;
    bool some_left = false;
    for (auto& worker : workers_) {
      some_left |= worker.left;
      if (!worker.fd.open()) continue;
      worker.writer.cut();
      worker.writer.add_error(header, loss_.why);
      farewell.add(std::move(worker.fd), std::move(worker.writer));
    }
    farewell.say(loss_.silent ? settings_.timeout_s : farewell_s, true);
    const bool cut_off = loss_.silent && !some_left && farewell.nobody_heard();
    return cut_off ? Status::cut_off : Status::lost;
  }

  const Settings settings_;
  std::vector<Worker> workers_;
  std::vector<const void*> sources_;
  Epoll epoll_;
  Pool pool_;
  std::deque<Chunk> chunks_;
  uint64_t first_ = 0;   // the number of the front of chunks_
  uint64_t summed_ = 0;  // how many were
  Clock::time_point summed_at_ = Clock::now();
  int64_t last_seq_ = -1;
  Counters counters_;
  Loss loss_;
};

// ---- The worker's side: a sender ---------------------------------------------------------

struct Collective {
  uint32_t seq = 0;
  char* vector = nullptr;
  Wire held{}, wire{};
  Op op{};
  uint32_t total = 0;          // its elements, as headers have it
  uint64_t missing_bytes = 0;  // on the wire

  bool cast() const { return held != wire; }
  size_t items(uint64_t nbytes) const { return static_cast<size_t>(nbytes) / item_bytes(wire); }
  char* at(uint64_t offset) const { return vector + items(offset) * item_bytes(held); }
};

/// What of a vector goes over one endpoint: its chunks' ends, in ascending order.
struct Shard {
  uint64_t next = 0;  // where its next chunk begins
  std::vector<uint64_t> ends;
  Collective* collective = nullptr;
  size_t begun = 0;  // of `ends`

  size_t next_bytes() const { return static_cast<size_t>(ends[begun] - next); }
};

struct Unanswered {
  Collective* collective;
  Header header;
  Buffer cast;  // what travels, if that is something else than what is held
};

struct Endpoint {
  Fd fd;
  std::string name;
  FrameReader reader;
  FrameWriter writer;
  std::string words;  // of its ERROR
  std::deque<Shard> shards;
  std::deque<Unanswered> unanswered;
  size_t unanswered_bytes = 0;
  Buffer landing;           // of a result that is cast
  Clock::time_point heard;  // or the first that it has to answer
  uint32_t events = 0;
};

struct SenderSettings {
  uint32_t rank, world;
  double timeout_s, patience_s;
  size_t credit;
};

/// Two threads meet in it: the caller's, and its own, which alone has the connections.
class Sender {
 public:
  Sender(std::vector<Endpoint> endpoints, SenderSettings settings)
      : settings_(settings),
        endpoints_(std::move(endpoints)),
        alarm_(checked(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))) {
    for (size_t i = 0; i < endpoints_.size(); i++) {
      endpoints_[i].events = EPOLLIN;
      epoll_.add(endpoints_[i].fd.get(), EPOLLIN, i);
    }
    epoll_.add(alarm_.get(), EPOLLIN, endpoints_.size());
    thread_ = std::thread([this] { work(); });
  }
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;
  ~Sender() { close(nullptr); }

  size_t endpoints() const { return endpoints_.size(); }

  /// Shards are in the order of endpoints. Returns the collective's number, or `over`.
  int64_t start(const Collective& collective, std::vector<Shard> shards) {
    std::lock_guard lock(mutex_);
    if (ended_ || closing_) return over;
    const uint32_t seq = next_seq_++;
    if (collective.missing_bytes == 0) return seq;
    auto& kept = open_[seq] = std::make_unique<Collective>(collective);
    kept->seq = seq;
    for (auto& shard : shards) shard.collective = kept.get();
    arrived_.push_back(std::move(shards));
    ring();
    return seq;
  }

  static constexpr int64_t over = -2;

  Status wait(uint32_t seq, int32_t milliseconds) {
    std::unique_lock lock(mutex_);
    const auto over = [&] { return ended_ || open_.count(seq) == 0; };
    changed_.wait_for(lock, std::chrono::milliseconds(milliseconds), over);
    if (open_.count(seq) == 0) return Status::done;
    return ended_ ? Status::lost : Status::going_on;
  }

  Loss loss() {
    std::lock_guard lock(mutex_);
    return loss_;
  }

  /// Says BYE, or why not. Any thread may, and several.
  void close(const char* why) {
    std::lock_guard one_closes(closing_mutex_);
    if (!thread_.joinable()) return;
    {
      std::lock_guard lock(mutex_);
      closing_ = true;
      if (why) last_words_ = std::make_unique<std::string>(why);
      ring();
    }
    thread_.join();
  }

 private:
  void ring() {
    const uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(alarm_.get(), &one, sizeof one);
  }

  void work() {
    try {
      while (turn()) continue;
      leave();
    } catch (const Loss& loss) {
      lose(loss);
    } catch (const std::exception& error) {
      lose({"worker " + std::to_string(settings_.rank) + " failed: " + error.what(),
            settings_.rank});
    }
  }

  bool turn() {
    std::array<epoll_event, 64> events;
    const size_t count = epoll_.wait(Clock::now() + seconds(1), events);
    for (size_t i = 0; i < count; i++) {
      const auto key = static_cast<size_t>(events[i].data.u64);
      if (key == endpoints_.size()) {
        if (!take_arrived()) return false;
      } else if (events[i].events & ~static_cast<uint32_t>(EPOLLOUT)) {
        read(endpoints_[key]);
      }
    }
    begin_chunks();
    for (size_t i = 0; i < endpoints_.size(); i++) go_on(i);
    return true;
  }

  /// What was started meanwhile; false when it is time to leave.
  bool take_arrived() {
    uint64_t rings;
    [[maybe_unused]] const auto got = ::read(alarm_.get(), &rings, sizeof rings);
    std::lock_guard lock(mutex_);
    for (auto& shards : arrived_)
      for (size_t i = 0; i < shards.size(); i++)
        if (!shards[i].ends.empty()) endpoints_[i].shards.push_back(std::move(shards[i]));
    arrived_.clear();
    return !closing_;
  }

  void go_on(size_t index) {
    Endpoint& endpoint = endpoints_[index];
    write(endpoint);
    const uint32_t events = EPOLLIN | (endpoint.writer.frames() ? EPOLLOUT : 0u);
    if (std::exchange(endpoint.events, events) != events)
      epoll_.change(endpoint.fd.get(), events, index);
    if (!endpoint.unanswered.empty()) check_patience(endpoint);
  }

  // Sending

  /// A chunk for each endpoint, then the next ones: so all have something to add from the first
  /// moment on. A credit's worth to one after the other would leave the last ones idle meanwhile.
  void begin_chunks() {
    for (bool any = true; any;) {
      any = false;
      for (auto& endpoint : endpoints_) {
        if (!may_begin(endpoint)) continue;
        begin_next(endpoint);
        write(endpoint);
        any = true;
      }
    }
  }

  bool may_begin(const Endpoint& endpoint) const {
    if (endpoint.shards.empty()) return false;
    if (endpoint.unanswered_bytes == 0) return true;
    return endpoint.unanswered_bytes + endpoint.shards.front().next_bytes() <= settings_.credit;
  }

  void begin_next(Endpoint& endpoint) {
    Shard& shard = endpoint.shards.front();
    const size_t nbytes = shard.next_bytes();
    if (endpoint.unanswered.empty()) endpoint.heard = Clock::now();
    begin_chunk(endpoint, *shard.collective, shard.next, nbytes);
    shard.next += nbytes;
    if (++shard.begun == shard.ends.size()) endpoint.shards.pop_front();
  }

  void begin_chunk(Endpoint& endpoint, Collective& collective, uint64_t offset, size_t nbytes) {
    Header header;
    header.type = FrameType::data;
    header.wire = collective.wire;
    header.op = collective.op;
    header.seq = collective.seq;
    header.nbytes = static_cast<uint32_t>(nbytes);
    header.offset = offset;
    header.rank = settings_.rank;
    header.total = collective.total;
    Buffer cast;
    if (collective.cast()) {
      cast = pool_.take(nbytes);
      const auto narrow = arithmetic().narrow[static_cast<size_t>(collective.wire)];
      narrow(collective.at(offset), cast.data(), collective.items(nbytes));
    }
    endpoint.writer.add(header, collective.cast() ? cast.data() : collective.at(offset));
    endpoint.unanswered.push_back({&collective, header, std::move(cast)});
    endpoint.unanswered_bytes += nbytes;
  }

  void write(Endpoint& endpoint) {
    if (endpoint.writer.frames() == 0) return;
    try {
      endpoint.writer.flush(endpoint.fd.get());
    } catch (const Broken& broken) {
      read(endpoint);  // its last words may be there
      on_broken(endpoint, broken);
    }
  }

  // Reading

  void read(Endpoint& endpoint) {
    using Event = FrameReader::Event;
    try {
      for (;;) {
        const Event event = endpoint.reader.advance(endpoint.fd.get());
        if (event == Event::nothing) return;
        event == Event::header ? on_header(endpoint) : on_frame(endpoint);
      }
    } catch (const Broken& broken) {
      on_broken(endpoint, broken);
    }
  }

  void on_header(Endpoint& endpoint) {
    const Header& header = endpoint.reader.header;
    if (is_frame(header) && header.type == FrameType::error && header.nbytes <= longest_error) {
      endpoint.words.resize(header.nbytes);
      return endpoint.reader.payload_to(endpoint.words.data());
    }
    if (!is_expected(endpoint, header))
      throw Loss{"reducer " + endpoint.name + " was lost" + where(endpoint) +
                 "; it sent what was not asked of it"};
    const Collective& collective = *endpoint.unanswered.front().collective;
    if (!collective.cast()) return endpoint.reader.payload_to(collective.at(header.offset));
    if (endpoint.landing.size() < header.nbytes) endpoint.landing = Buffer(header.nbytes);
    endpoint.reader.payload_to(endpoint.landing.data());
  }

  /// Whether it answers the first chunk that is unanswered, all of which has been sent.
  static bool is_expected(const Endpoint& endpoint, const Header& header) {
    return is_frame(header) && header.type == FrameType::result &&
           endpoint.writer.frames() < endpoint.unanswered.size() &&
           same_chunk(endpoint.unanswered.front().header, header);
  }

  void on_frame(Endpoint& endpoint) {
    const Header header = endpoint.reader.header;
    if (header.type == FrameType::error) {
      endpoint.fd.close();
      throw Loss{endpoint.words, header.rank < settings_.world ? header.rank : nobody};
    }
    endpoint.heard = Clock::now();
    Collective& collective = *endpoint.unanswered.front().collective;
    if (collective.cast()) {
      const auto widen = arithmetic().widen[static_cast<size_t>(collective.wire)];
      widen(endpoint.landing.data(), collective.at(header.offset),
            collective.items(header.nbytes));
    }
    pool_.give(std::move(endpoint.unanswered.front().cast));
    endpoint.unanswered.pop_front();
    endpoint.unanswered_bytes -= header.nbytes;
    collective.missing_bytes -= header.nbytes;
    if (collective.missing_bytes == 0) finish(collective.seq);
  }

  void finish(uint32_t seq) {
    std::lock_guard lock(mutex_);
    open_.erase(seq);
    changed_.notify_all();
  }

  // Losing and leaving

  static std::string where(const Endpoint& endpoint) {
    if (endpoint.unanswered.empty()) return "";
    return " in collective " + std::to_string(endpoint.unanswered[0].header.seq);
  }

  [[noreturn]] static void on_broken(Endpoint& endpoint, const Broken& broken) {
    endpoint.fd.close();
    const char* how = broken.silent() ? "; nothing was heard of it, or this host is cut off" : "";
    throw Loss{"reducer " + endpoint.name + " was lost" + where(endpoint) + how};
  }

  /// A reducer answers as soon as it has all parts, or gives the late ones up; or it is stuck.
  void check_patience(const Endpoint& endpoint) {
    const double longest_s = settings_.patience_s + settings_.timeout_s;
    if (Clock::now() < endpoint.heard + seconds(longest_s)) return;
    throw Loss{"reducer " + endpoint.name + " gave no answer" + where(endpoint) + " within " +
               in_seconds(longest_s)};
  }

  void lose(const Loss& loss) {
    Header header;
    header.rank = loss.culprit;
    Farewell farewell;
    for (auto& endpoint : endpoints_) {
      if (!endpoint.fd.open()) continue;
      endpoint.writer.cut();
      endpoint.writer.add_error(header, loss.why);
      farewell.add(std::move(endpoint.fd), std::move(endpoint.writer));
    }
    farewell.say(0, true);  // before its caller hears of it, and this process may end
    publish(loss);
    farewell.say(farewell_s, true);
  }

  /// In the middle of a collective that is a loss to all others.
  std::unique_ptr<Loss> reason_to_leave() {
    std::lock_guard lock(mutex_);
    if (!last_words_ && open_.empty()) return nullptr;
    const uint32_t at = open_.empty() ? std::max(next_seq_, 1u) - 1 : open_.begin()->first;
    const std::string why = last_words_ ? *last_words_ : "it was closed";
    return std::make_unique<Loss>(Loss{"worker " + std::to_string(settings_.rank) +
                                           " left at collective " + std::to_string(at) + ": " + why,
                                       settings_.rank});
  }

  void leave() {
    if (const auto reason = reason_to_leave()) return lose(*reason);
    Header bye;
    bye.type = FrameType::bye;
    bye.rank = settings_.rank;
    Farewell farewell;
    for (auto& endpoint : endpoints_) {
      endpoint.writer.cut();
      endpoint.writer.add(bye, nullptr);
      farewell.add(std::move(endpoint.fd), std::move(endpoint.writer));
    }
    farewell.say(farewell_s, false);
    publish({"worker " + std::to_string(settings_.rank) + " has left its group", settings_.rank});
  }

  /// From here on vectors are their owners' again.
  void publish(const Loss& loss) {
    std::lock_guard lock(mutex_);
    ended_ = true;
    loss_ = loss;
    changed_.notify_all();
  }

  const SenderSettings settings_;
  std::vector<Endpoint> endpoints_;
  Epoll epoll_;
  Pool pool_;
  Fd alarm_;

  std::mutex closing_mutex_;
  std::mutex mutex_;  // for all that follows
  std::condition_variable changed_;
  std::map<uint32_t, std::unique_ptr<Collective>> open_;
  std::vector<std::vector<Shard>> arrived_;
  uint32_t next_seq_ = 0;
  bool closing_ = false;
  bool ended_ = false;
  std::unique_ptr<std::string> last_words_;
  Loss loss_;

  std::thread thread_;  // last: it ends before what it uses
};

// ---- The C interface ---------------------------------------------------------------------

thread_local std::string last_failure;

/// What `call` returns; where it throws, `otherwise`, and the reason is kept.
template <class Call, class Result>
Result guarded(Result otherwise, Call call) noexcept {
  try {
    return call();
  } catch (const std::exception& error) {
    last_failure = error.what();
  } catch (...) {
    last_failure = "an error of no known kind";
  }
  return otherwise;
}

/// All of a text that fits, and how many bytes that is.
size_t copy_text(const std::string& text, char* to, size_t size) {
  const size_t count = std::min(text.size(), size);
  std::memcpy(to, text.data(), count);
  return count;
}

std::vector<Fd> own(const int32_t* fds, uint32_t count) {
  std::vector<Fd> owned(count);
  for (uint32_t i = 0; i < count; i++) {
    owned[i] = Fd(fds[i]);
    ::fcntl(fds[i], F_SETFL, ::fcntl(fds[i], F_GETFL) | O_NONBLOCK);
  }
  return owned;
}

/// A plan as it is handed over: for each endpoint where its shard begins and how many chunks it
/// has, and all their ends.
struct Plan {
  const uint64_t* begins;
  const uint32_t* chunks;
  const uint64_t* ends;
};

std::vector<Shard> shards_of(const Plan& plan, size_t endpoints, uint64_t nbytes, size_t item) {
  std::vector<Shard> shards(endpoints);
  const uint64_t* end = plan.ends;
  uint64_t planned = 0;
  for (size_t i = 0; i < endpoints; i++) {
    uint64_t before = shards[i].next = plan.begins[i];
    shards[i].ends.assign(end, end + plan.chunks[i]);
    for (const uint64_t each : shards[i].ends) {
      if (each <= before || each - before > longest_chunk || each > nbytes || each % item)
        throw std::invalid_argument("a plan with a chunk that can't be");
      before = each;
    }
    planned += before - plan.begins[i];
    end += plan.chunks[i];
  }
  if (planned != nbytes) throw std::invalid_argument("a plan of another vector");
  return shards;
}

}  // namespace

extern "C" {

#define FOOTPLATE_API __attribute__((visibility("default")))

/// Changes with any of what follows.
FOOTPLATE_API uint32_t footplate_interface() { return 1; }

/// Which instructions do the sums.
FOOTPLATE_API const char* footplate_instructions() { return arithmetic().name; }

FOOTPLATE_API size_t footplate_failure(char* to, size_t size) {
  return copy_text(last_failure, to, size);
}

/// `baseline`: without any instructions that not all machines have.
FOOTPLATE_API void footplate_sum(bool baseline, uint8_t wire, bool average, uint32_t world,
                                 void* out, const void* const* parts, uint64_t count) {
  const Arithmetic& chosen = baseline ? baseline_arithmetic : arithmetic();
  chosen.sum[wire & 3](out, Parts{parts, world, static_cast<size_t>(count), average});
}

/// Between float32 and what travels; `wire` is one of the halves.
FOOTPLATE_API bool footplate_cast(bool baseline, uint8_t wire, bool narrowing, const void* from,
                                  void* to, uint64_t count) {
  const Arithmetic& chosen = baseline ? baseline_arithmetic : arithmetic();
  const Cast cast = (narrowing ? chosen.narrow : chosen.widen)[wire & 3];
  if (cast) cast(from, to, static_cast<size_t>(count));
  return cast != nullptr;
}

/// Owns the connections, also when it fails. None: see footplate_failure.
FOOTPLATE_API Lane* footplate_lane_open(const int32_t* fds, uint32_t world, const char* name,
                                        double timeout_s, double patience_s, uint64_t window,
                                        int32_t ending) {
  return guarded(static_cast<Lane*>(nullptr), [&] {
    Lane::Settings settings{name, timeout_s, patience_s, static_cast<size_t>(window), ending};
    return new Lane(own(fds, world), std::move(settings));
  });
}

FOOTPLATE_API int32_t footplate_lane_run(Lane* lane, int32_t milliseconds, Counters* counters) {
  const auto status = guarded(Status::failed, [&] { return lane->run(milliseconds); });
  *counters = lane->counters();
  return static_cast<int32_t>(status);
}

FOOTPLATE_API size_t footplate_lane_loss(const Lane* lane, char* to, size_t size,
                                         uint32_t* culprit) {
  *culprit = lane->loss().culprit;
  return copy_text(lane->loss().why, to, size);
}

FOOTPLATE_API void footplate_lane_close(Lane* lane) { delete lane; }

/// As footplate_lane_open. `names` say what endpoints are called in sentences.
FOOTPLATE_API Sender* footplate_sender_open(const int32_t* fds, const char* const* names,
                                            uint32_t count, uint32_t rank, uint32_t world,
                                            double timeout_s, double patience_s,
                                            uint64_t credit) {
  return guarded(static_cast<Sender*>(nullptr), [&] {
    std::vector<Endpoint> endpoints(count);
    auto owned = own(fds, count);
    for (uint32_t i = 0; i < count; i++) {
      endpoints[i].fd = std::move(owned[i]);
      endpoints[i].name = names[i];
    }
    const SenderSettings settings{rank, world, timeout_s, patience_s, static_cast<size_t>(credit)};
    return new Sender(std::move(endpoints), settings);
  });
}

/// `nbytes` is on the wire. Returns the collective's number; -2 where the group has
/// ended, -1: see footplate_failure.
FOOTPLATE_API int64_t footplate_sender_start(Sender* sender, void* vector, uint8_t held,
                                             uint8_t wire, uint8_t op, uint64_t nbytes,
                                             const uint64_t* begins, const uint32_t* chunks,
                                             const uint64_t* ends) {
  return guarded(int64_t{-1}, [&]() -> int64_t {
    Collective collective;
    collective.vector = static_cast<char*>(vector);
    collective.held = static_cast<Wire>(held & 3);
    collective.wire = static_cast<Wire>(wire & 3);
    collective.op = static_cast<Op>(op & 1);
    collective.missing_bytes = nbytes;
    collective.total = static_cast<uint32_t>(collective.items(nbytes));
    auto shards = shards_of({begins, chunks, ends}, sender->endpoints(), nbytes,
                            item_bytes(collective.wire));
    return sender->start(collective, std::move(shards));
  });
}

FOOTPLATE_API int32_t footplate_sender_wait(Sender* sender, uint32_t seq, int32_t milliseconds) {
  const auto wait = [&] { return sender->wait(seq, milliseconds); };
  return static_cast<int32_t>(guarded(Status::failed, wait));
}

FOOTPLATE_API size_t footplate_sender_loss(Sender* sender, char* to, size_t size,
                                           uint32_t* culprit) {
  const Loss loss = sender->loss();
  *culprit = loss.culprit;
  return copy_text(loss.why, to, size);
}

/// `why` may be none: BYE.
FOOTPLATE_API void footplate_sender_say_bye(Sender* sender, const char* why) {
  guarded(0, [&] {
    sender->close(why);
    return 0;
  });
}

FOOTPLATE_API void footplate_sender_close(Sender* sender) { delete sender; }

}  // extern "C"
