import SDLMessages
import SDLWire
import TLSEngine

/// A conversation as a JSON object on each line (docs/testing-without-a-car.md, "The log"), whichever end observes it:
/// into a file, for those who ask for the last lines, or both.
///
/// Everything may be called on any thread. Nothing waits for the file, which is written by a thread of its own.
package final class ConversationWriter: Sendable {
  /// A slow reader loses lines beyond this, which another line says.
  private static let maximumByteCount = 64 << 20

  private struct State: Sendable {
    var sequence = 0
    var sessionCount = 0
    /// The names of the registered apps, by their sessions.
    var names: [Int: String] = [:]
    var media: [MediaKey: MediaCount] = [:]
    /// The second since the beginning that `media` belongs to.
    var second = 0
    /// Nil for lines as they are.
    var blanking: Blanking?
    /// Nil where nobody asks for them.
    var recent: RecentLines?
  }

  private struct MediaKey: Hashable {
    let session: Int
    let service: String
  }

  private struct MediaCount {
    var messages = 0
    var bytes = 0
  }

  private let file: BackgroundFile?
  private let clock: TimeSource
  private let beginning: Duration
  private let state: Monitor<State>

  /// - Parameters:
  ///   - file: belongs to it from now on; nil for the last lines alone.
  ///   - isBlank: whether what identifies people and cars is replaced (``Blanking``).
  ///   - keepsRecent: whether ``lines(after:atMost:)`` is used.
  ///   - beginning: from which times count.
  package init(
    _ file: BackgroundFile?, isBlank: Bool = false, keepsRecent: Bool = false, since beginning: Duration,
    clock: TimeSource = .monotonic
  ) {
    self.file = file
    self.clock = clock
    self.beginning = beginning
    var state = State()
    if isBlank { state.blanking = Blanking() }
    if keepsRecent { state.recent = RecentLines() }
    self.state = Monitor(state)
  }

  /// Creates the file.
  ///
  /// - Parameters:
  ///   - waitsForReader: of a pipe; otherwise one without a reader is an error.
  ///   - failed: called once, on a thread of its own, with the errno of a write that has failed.
  package static func file(
    _ path: String, waitsForReader: Bool, failed: (@Sendable (Int32) -> Void)? = nil
  ) throws(LinkError) -> BackgroundFile {
    try BackgroundFile(
      creating: path, name: "sdl-log", maximumByteCount: maximumByteCount, waitsForReader: waitsForReader,
      failed: failed)
  }

  /// A file for a descriptor, which belongs to it from now on.
  package static func file(_ descriptor: Int32) -> BackgroundFile {
    BackgroundFile(descriptor, name: "sdl-log", maximumByteCount: maximumByteCount)
  }

  /// Begins to write.
  package func start() throws(LinkError) {
    try file?.start()
  }

  /// The errno of the write that has failed, after which nothing is written; nil if none has.
  package var failure: Int32? { file?.failure }

  /// Waits until all lines are written, or nothing more is read.
  package func finish() {
    flushMedia()
    file?.finish()
  }

  /// The same, and closes the file: it gets no further lines.
  package func close() {
    flushMedia()
    file?.close()
  }
}

extension ConversationWriter {
  /// The number of the last line.
  package var sequence: Int { state.withLock { $0.sequence } }

  /// Lines behind the one of this number, as far as they are kept, and the number of the last of them.
  /// - Parameter byteCount: after so many bytes no further line is added.
  package func lines(after number: Int, atMost byteCount: Int) -> ([UInt8], last: Int) {
    state.withLock { $0.recent?.lines(after: number, atMost: byteCount) ?? ([], number) }
  }

  /// The number of a further session, for an end that has none of its own.
  package func newSession() -> Int {
    state.withLock { state in
      state.sessionCount += 1
      return state.sessionCount
    }
  }

  /// The app that is registered in a session, for its later lines; nil for none.
  package func setName(_ name: String?, of session: Int) {
    state.withLock { $0.names[session] = name }
  }

  package func note(_ kind: String, of session: Int? = nil, _ members: JSONObject) {
    let now = now
    state.withLock { state in
      if state.second != second(of: now) { flushMedia(&state, at: now) }
      write(kind, session, members, &state, at: now)
    }
  }

  /// Adds the line of a message.
  /// - Parameter bulkFile: where the binary data of an RPC is.
  package func note(_ message: ConversationMessage, of session: Int, bulkFile: String? = nil) {
    var members = message.members
    if case .rpc(let rpc) = message.content, !rpc.bulk.isEmpty {
      members["bulk"] = .object(
        JSONObject(present: [
          "bytes": .integer(rpc.bulk.count), "sha256": Checksum.sha256(rpc.bulk).map(JSONValue.string),
          "file": bulkFile.map(JSONValue.string),
        ]))
    }
    note(message.kind, of: session, members)
  }

  /// Counts messages of video or sound, for the line of the second.
  package func noteMedia(_ service: ServiceType, messages: Int = 1, bytes: Int, of session: Int) {
    let now = now
    state.withLock { state in
      if state.second != second(of: now) { flushMedia(&state, at: now) }
      let key = MediaKey(session: session, service: "\(service)")
      state.media[key, default: MediaCount()].messages &+= messages
      state.media[key, default: MediaCount()].bytes &+= bytes
    }
  }

  /// Adds the lines of video and sound that are due at the end of the second.
  package func flushMedia() {
    let now = now
    state.withLock { flushMedia(&$0, at: now) }
  }

  private var now: Duration { clock.now - beginning }

  private func second(of time: Duration) -> Int { Int(clamping: time.components.seconds) }

  private func flushMedia(_ state: inout State, at now: Duration) {
    let media = state.media
    state.media = [:]
    state.second = second(of: now)
    for (key, count) in media.sorted(by: { ($0.key.session, $0.key.service) < ($1.key.session, $1.key.service) }) {
      let members: JSONObject = [
        "service": .string(key.service), "messages": .integer(count.messages), "bytes": .integer(count.bytes),
      ]
      write("media", key.session, members, &state, at: now)
    }
  }

  private func write(_ kind: String, _ session: Int?, _ members: JSONObject, _ state: inout State, at now: Duration) {
    state.sequence += 1
    var line = members
    line["kind"] = .string(kind)
    line["session"] = session.map(JSONValue.integer)
    line["app"] = session.flatMap { state.names[$0] }.map(JSONValue.string)
    if let blank = state.blanking?.blank(line) { line = blank }
    line["t"] = .number((now / .milliseconds(1)).rounded() / 1000)
    line["seq"] = .integer(state.sequence)
    let bytes = line.serialized + [UInt8(ascii: "\n")]
    state.recent?.add(bytes, number: state.sequence)
    // With the lock, since lines have to come in their order; the file only stores them.
    _ = file?.append(bytes) { omitted in
      let notice: JSONObject = ["kind": .string("omitted"), "lines": .integer(omitted)]
      return notice.serialized + [UInt8(ascii: "\n")]
    }
  }
}

/// The last lines of a log, for those who ask for them.
struct RecentLines: Sendable {
  private static let mostLines = 20_000
  private static let maximumByteCount = 16 << 20

  private var lines: [(number: Int, bytes: [UInt8])] = []
  private var byteCount = 0

  /// Adds the line behind the last one.
  mutating func add(_ line: [UInt8], number: Int) {
    lines.append((number, line))
    byteCount += line.count
    while lines.count > Self.mostLines || byteCount > Self.maximumByteCount {
      // A tenth at once, since the rest moves.
      let count = max(lines.count / 10, 1)
      byteCount -= lines.prefix(count).reduce(0) { $0 + $1.bytes.count }
      lines.removeFirst(count)
    }
  }

  /// As ``ConversationWriter/lines(after:atMost:)``.
  func lines(after number: Int, atMost byteCount: Int) -> ([UInt8], last: Int) {
    var bytes: [UInt8] = []
    var last = number
    guard let first = lines.first?.number else { return ([], number) }
    for line in lines.dropFirst(max(max(number, 0) - first + 1, 0)) where bytes.count < byteCount {
      bytes += line.bytes
      last = line.number
    }
    return (bytes, last)
  }
}
