import CLinux
import Glibc
import SDLHeadUnit
import SDLMessages
import Synchronization
@_exported import TestSupport
import Testing

@testable import SDLApp
@testable import SDLAppLink
@testable import SDLHeadUnitLink
@testable import SDLLink

/// All tests of this target, one after the other: some count the process's threads and descriptors.
@Suite(.serialized, .timeLimit(.minutes(getenv("EVERY_BYTE") == nil ? 2 : 60))) enum LinkTests {}

/// A payload in several memory blocks that counts its releases.
final class TestPayload: MediaPayload {
  // Never written after init, and freed only in deinit: safe to read from any thread.
  nonisolated(unsafe) private let memory: UnsafeMutableRawBufferPointer
  private let cuts: [Int]
  private let releases = Mutex<[Bool]>([])

  /// `cuts` are the places where a new block begins, in ascending order.
  init(_ bytes: [UInt8], cuts: [Int] = []) {
    memory = .allocate(byteCount: max(bytes.count, 1), alignment: 1)
    memory.copyBytes(from: bytes)
    self.cuts = [0] + cuts + [bytes.count]
  }

  deinit { memory.deallocate() }

  var byteCount: Int { cuts.last ?? 0 }
  var segmentCount: Int { cuts.count - 1 }
  func segment(at index: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: memory[cuts[index]..<cuts[index + 1]])
  }
  func release(wasSent: Bool) { releases.withLock { $0.append(wasSent) } }

  /// One entry per release: whether it was sent.
  var outcomes: [Bool] { releases.withLock { $0 } }
}

/// Random bytes, the same for the same seed.
///
/// A block of a prime size, repeated: that is quick, and no frame size is a multiple of it.
func noise(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
  var bytes: [UInt8] = []
  bytes.reserveCapacity(count)
  var start = Int((seed &* 0x9E37_79B9_7F4A_7C15) % UInt64(noiseBlock.count))
  while bytes.count < count {
    bytes += noiseBlock[start...].prefix(count - bytes.count)
    start = 0
  }
  return bytes
}

private let noiseBlock: [UInt8] = {
  var state: UInt64 = 0x9E37_79B9_7F4A_7C15
  return (0..<65_537).map { _ in
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return UInt8(truncatingIfNeeded: state)
  }
}()

/// The whole frames in `bytes`, and how many bytes of another one follow.
func decode(_ bytes: [UInt8]) -> (frames: [Frame], rest: Int) {
  var decoder = FrameDecoder()
  decoder.append(bytes)
  var frames: [Frame] = []
  while case .frame(let frame)? = decoder.next() { frames.append(frame) }
  return (frames, decoder.bufferedByteCount)
}

/// A TCP listener whose behaviour a test defines, for what no head unit does.
final class RawListener {
  let socket: Socket
  let port: UInt16

  init(address: String = "127.0.0.1") throws {
    let bound: SocketAddress
    (socket, bound) = try Socket.listening(address: address, port: 0)
    port = bound.port
  }

  func accept() throws -> Socket {
    var descriptor: Int32 = -1
    try #require(
      eventually {
        descriptor = Glibc.accept(socket.descriptor, nil, nil)
        return descriptor >= 0
      })
    return Socket(adopting: descriptor)
  }
}

extension Socket {
  /// Everything until `isEnough`, or the peer's end.
  func readAll(until isEnough: ([UInt8]) -> Bool = { _ in false }) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    let deadline = MonotonicClock.now + testTimeout
    while !isEnough(bytes), MonotonicClock.now < deadline {
      switch buffer.withUnsafeMutableBytes({ receive(into: $0) }) {
      case .bytes(let count): bytes += buffer[..<count]
      case .wouldBlock: poll(nil, 0, 1)
      case .endOfStream, .failed: return bytes
      }
    }
    return bytes
  }

  func write(_ bytes: [UInt8]) {
    _ = bytes.withUnsafeBytes { send($0) }
  }
}

/// What one read brings.
func receive(_ socket: Socket, atMost count: Int = 64 << 10) -> (Socket.Transfer, [UInt8]) {
  var bytes = [UInt8](repeating: 0, count: count)
  let transfer = bytes.withUnsafeMutableBytes { socket.receive(into: $0) }
  guard case .bytes(let count) = transfer else { return (transfer, []) }
  return (transfer, Array(bytes[..<count]))
}

/// Two TCP sockets of this machine that are connected with each other.
/// - Parameter isNarrow: whether the first one has a small window, and the options of an SDL connection. Otherwise the
///   kernel takes megabytes that nobody reads.
func tcpPair(isNarrow: Bool) throws -> (Socket, Socket) {
  let (listener, address) = try Socket.listening(address: "127.0.0.1", port: 0)
  if isNarrow { listener.set(SOL_SOCKET, SO_RCVBUF, 4096) }
  let ours = try #require(Socket.tcp(family: AF_INET))
  if isNarrow { ours.configureTCP() }
  _ = address.withPointer { connect(ours.descriptor, $0, $1) }
  var descriptor = pollfd(fd: listener.descriptor, events: Int16(POLLIN), revents: 0)
  #expect(poll(&descriptor, 1, 5000) == 1)
  let theirs = linux_accept(listener.descriptor)
  try #require(theirs >= 0)
  return (ours, Socket(adopting: theirs))
}

/// A writer without a connection thread, with room for three frames of video, and the other end of its socket, which
/// little fills.
func makeWriter() throws -> (ConnectionWriter, WakeUp, peer: Socket) {
  let (ours, theirs) = try Socket.pair()
  ours.set(SOL_SOCKET, SO_SNDBUF, 16 << 10)
  let wakeUp = WakeUp()
  try wakeUp.open()
  let writer = ConnectionWriter(videoCapacity: 3, clock: .monotonic, wakeUp: wakeUp)
  writer.open(ours)
  return (writer, wakeUp, theirs)
}
