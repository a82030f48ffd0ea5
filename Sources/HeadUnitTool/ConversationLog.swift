import Glibc
import SDLHeadUnit
import SDLHeadUnitLink
import SDLLink
import SDLMessages
import SDLWire
import Synchronization
import TLSEngine

/// Everything that happens, as a JSON object on each line (`--log`, `GET /log`). Pictures and sound are counted by the second,
/// unless each of their messages is wanted.
final class ConversationLog: Sendable {
  /// A slow reader loses lines beyond this, which another line says.
  private static let maximumByteCount = 64 << 20

  private struct State: Sendable {
    var sequence = 0
    /// The names of the registered apps.
    var names: [UInt8: String] = [:]
    var media: [MediaKey: MediaCount] = [:]
    /// The second since the start that `media` belongs to.
    var second = 0
    var bulkCount = 0
    /// The last lines, for those who ask for them.
    var recent: [(sequence: Int, line: [UInt8])] = []
    var recentByteCount = 0
  }

  private struct MediaKey: Hashable {
    let session: UInt8
    let service: String
  }

  private struct MediaCount {
    var messages = 0
    var bytes = 0
  }

  /// Older lines are not kept for `GET /log`.
  private static let mostRecentLines = 20_000
  private static let maximumRecentByteCount = 16 << 20

  /// Nil without `--log`.
  private let file: BackgroundFile?
  private let keepsRecent: Bool
  /// Called after each line, with no lock held.
  private let grown = Mutex<(@Sendable () -> Void)?>(nil)
  private let beginning: Duration
  private let countsMedia: Bool
  /// Where files of apps are kept; nil for nowhere.
  private let folder: String?
  private let state = Mutex(State())
  private let bulkFailure = Mutex<Int32?>(nil)

  /// Creates the file; "-" is the standard output.
  /// - Parameter keepsRecent: whether ``lines(after:atMost:)`` is used.
  init(_ options: Options.Log?, keepsRecent: Bool, since beginning: Duration) throws(LinkError) {
    self.keepsRecent = keepsRecent
    self.beginning = beginning
    countsMedia = options?.showsMedia != true
    folder = options?.folder
    guard let options else {
      file = nil
      return
    }
    let isOutput = options.path == Options.Log.standardOutput
    let descriptor =
      isOutput
      ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3) : open(options.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw .system(operation: "open \(options.path)", errno: errno) }
    if let folder = options.folder {
      guard mkdir(folder, 0o755) == 0 || errno == EEXIST, access("\(folder)/.", W_OK | X_OK) == 0 else {
        throw .system(operation: "write into the folder \(folder)", errno: errno)
      }
    }
    file = BackgroundFile(descriptor, name: "log", maximumByteCount: Self.maximumByteCount)
  }

  func start() throws(LinkError) {
    try file?.start()
  }

  /// Why not everything was written; nil if it was.
  var failure: Int32? { file?.failure ?? bulkFailure.withLock { $0 } }

  func whenGrown(_ body: @escaping @Sendable () -> Void) {
    grown.withLock { $0 = body }
  }

  /// The number of the last line.
  var sequence: Int { state.withLock { $0.sequence } }

  /// Lines behind the one of this number, as far as they are kept, and the number of the last of them.
  /// - Parameter byteCount: after so many bytes no further line is added.
  func lines(after number: Int, atMost byteCount: Int) -> ([UInt8], last: Int) {
    state.withLock { state in
      var bytes: [UInt8] = []
      var last = number
      guard let first = state.recent.first?.sequence else { return ([], number) }
      for one in state.recent.dropFirst(max(number - first + 1, 0)) where bytes.count < byteCount {
        bytes += one.line
        last = one.sequence
      }
      return (bytes, last)
    }
  }

  /// Waits until everything is written, or nothing more is read.
  func finish() {
    file?.finish()
  }

  private var now: Duration { MonotonicClock.now - beginning }

  func note(_ event: HeadUnitServerEvent) {
    let now = now
    defer { tellOfGrowth() }
    state.withLock { state in
      if state.second != Int(now / .seconds(1)) { flushMedia(&state, at: now) }
      switch event {
      case .session(let id, let event): note(event, of: id, &state, at: now)
      case .connected(let id, let peer):
        write("state", id, ["type": .string("connected"), "peer": .string(peer)], &state, at: now)
      case .disconnected(let id, let error, _):
        let cause = error.map { JSONValue.string("\($0)") }
        write("state", id, JSONObject(present: ["type": .string("disconnected"), "cause": cause]), &state, at: now)
        state.names[id] = nil
      case .tested(let outcome): write("expect", nil, outcome.members, &state, at: now)
      case .stepExecuted(let step, let id):
        let members: JSONObject = [
          "dir": .string("driver"), "type": .string("step"), "line": .integer(step.line), "text": .string(step.text),
        ]
        write("event", id, members, &state, at: now)
      case .transport, .ended: break
      case .refused, .secondaryTransportRefused, .secondaryPortFailed, .stepSkipped, .stepsDropped, .testEnded:
        if let text = event.text { write("event", event.sessionID, ["text": .string(text)], &state, at: now) }
      }
    }
  }

  private func tellOfGrowth() {
    grown.withLock { $0 }?()
  }

  /// A line that the program of the test has written.
  func noteOutput(_ line: String) {
    let now = now
    defer { tellOfGrowth() }
    state.withLock { write("output", nil, ["text": .string(line)], &$0, at: now) }
  }

  /// A typed command: `cause` says why it has no effect.
  func noteCommand(_ text: String, failure: String?) {
    let now = now
    defer { tellOfGrowth() }
    let members = JSONObject(present: [
      "dir": .string("driver"), "type": .string("command"), "text": .string(text),
      "result": .string(failure == nil ? "done" : "failed"), "cause": failure.map(JSONValue.string),
    ])
    state.withLock { write("event", nil, members, &$0, at: now) }
  }

  /// The program's own lines: the ports at the beginning, and the totals at the end.
  func noteProgram(_ type: String, _ members: JSONObject) {
    let now = now
    state.withLock { state in
      flushMedia(&state, at: now)
      write("state", nil, members.merging(["type": .string(type)]) { $1 }, &state, at: now)
    }
  }

  private func note(_ event: HeadUnitSession.Event, of id: UInt8, _ state: inout State, at now: Duration) {
    switch event {
    case .message(let message): write(message.kind, id, members(of: message, &state), &state, at: now)
    case .videoData(let bytes): noteMedia("video", bytes.count, of: id, &state, at: now)
    case .audioData(let bytes): noteMedia("audio", bytes.count, of: id, &state, at: now)
    case .videoMissed, .videoTimestamp: break
    default:
      guard let record = EventRecord(event) else { return }
      if case .appRegistered(let name, _, _, _, _) = event { state.names[id] = name }
      var members: JSONObject = ["type": .string(record.name)]
      if !record.members.isEmpty { members["params"] = .object(record.members) }
      if let direction = event.direction { members["dir"] = .string(direction) }
      if let text = event.text { members["text"] = .string(text) }
      write(event.kind, id, members, &state, at: now)
      if case .appUnregistered = event { state.names[id] = nil }
    }
  }

  private func members(of message: HeadUnitMessage, _ state: inout State) -> JSONObject {
    var members = message.members
    guard case .rpc(let rpc) = message.content, !rpc.bulk.isEmpty else { return members }
    var bulk: JSONObject = ["bytes": .integer(rpc.bulk.count)]
    if let checksum = Checksum.sha256(rpc.bulk) { bulk["sha256"] = .string(checksum) }
    if let folder {
      state.bulkCount += 1
      let path = "\(folder)/\(state.bulkCount)-\(rpc.function)"
      if Self.save(rpc.bulk, path) {
        bulk["file"] = .string(path)
      } else {
        bulkFailure.withLock { $0 = errno }
      }
    }
    members["bulk"] = .object(bulk)
    return members
  }

  private static func save(_ bytes: [UInt8], _ path: String) -> Bool {
    guard let file = fopen(path, "we") else { return false }
    let isWritten = fwrite(bytes, 1, bytes.count, file) == bytes.count
    return fclose(file) == 0 && isWritten
  }

  private func noteMedia(_ service: String, _ byteCount: Int, of id: UInt8, _ state: inout State, at now: Duration) {
    guard countsMedia else {
      return write("media", id, ["service": .string(service), "bytes": .integer(byteCount)], &state, at: now)
    }
    state.media[MediaKey(session: id, service: service), default: MediaCount()].messages += 1
    state.media[MediaKey(session: id, service: service), default: MediaCount()].bytes += byteCount
  }

  private func flushMedia(_ state: inout State, at now: Duration) {
    let media = state.media
    state.media = [:]
    state.second = Int(now / .seconds(1))
    for (key, count) in media.sorted(by: { ($0.key.session, $0.key.service) < ($1.key.session, $1.key.service) }) {
      let members: JSONObject = [
        "service": .string(key.service), "messages": .integer(count.messages), "bytes": .integer(count.bytes),
      ]
      write("media", key.session, members, &state, at: now)
    }
  }

  private func keep(_ line: [UInt8], _ state: inout State) {
    state.recent.append((state.sequence, line))
    state.recentByteCount += line.count
    // A tenth at once, since the rest moves.
    guard state.recent.count > Self.mostRecentLines || state.recentByteCount > Self.maximumRecentByteCount else {
      return
    }
    let count = max(state.recent.count / 10, 1)
    state.recentByteCount -= state.recent.prefix(count).reduce(0) { $0 + $1.line.count }
    state.recent.removeFirst(count)
  }

  private func write(_ kind: String, _ id: UInt8?, _ members: JSONObject, _ state: inout State, at now: Duration) {
    state.sequence += 1
    var line = members
    line["t"] = .number((now / .milliseconds(1)).rounded() / 1000)
    line["seq"] = .integer(state.sequence)
    line["kind"] = .string(kind)
    line["session"] = id.map { .integer(Int($0)) }
    line["app"] = id.flatMap { state.names[$0] }.map(JSONValue.string)
    let bytes = line.serialized + [UInt8(ascii: "\n")]
    if keepsRecent { keep(bytes, &state) }
    _ = file?.append(bytes) { omitted in
      let notice: JSONObject = ["kind": .string("omitted"), "lines": .integer(omitted)]
      return notice.serialized + [UInt8(ascii: "\n")]
    }
  }
}

extension TestOutcome {
  var members: JSONObject {
    JSONObject(present: [
      "dir": .string("test"), "text": .string(text), "line": line.map { .integer($0) },
      "result": .string(failure == nil ? "met" : "failed"), "cause": failure.map(JSONValue.string),
      "seconds": .number((time / .milliseconds(1)).rounded() / 1000),
    ])
  }
}

extension HeadUnitMessage {
  fileprivate var kind: String { if case .rpc = content { "rpc" } else { "frame" } }

  fileprivate var members: JSONObject {
    var members: JSONObject = [
      "dir": .string(sender == .app ? "app→hu" : "hu→app"), "transport": .string("\(transport)"),
      "encrypted": .bool(isEncrypted),
    ]
    switch content {
    case .control(let control, let service, let details):
      members["type"] = .string(control.name)
      members["service"] = .string("\(service)")
      if !details.isEmpty { members["text"] = .string(details) }
    case .rpc(let rpc):
      members["type"] = .string("\(rpc.type)")
      members["service"] = .string("\(rpc.service)")
      members["function"] = .string(rpc.function.description)
      members["params"] = .object(rpc.parameters)
      if rpc.type != .notification { members["correlationID"] = .integer(Int(rpc.correlationID)) }
      if rpc.type == .response {
        let result = RPCResult(json: rpc.parameters)
        members["result"] = .string(result.resultCode)
        members["cause"] = result.info.map(JSONValue.string)
      }
    }
    return members
  }
}

extension HeadUnitSession.Event {
  /// The states are what an app may do, and which services it has.
  fileprivate var kind: String {
    switch self {
    case .violation: "violation"
    case .appRegistered, .appUnregistered, .hmiStatusSent, .systemContextSent, .videoStarted, .videoStopped,
      .audioStarted, .audioStopped, .secondaryTransportRegistered, .secondaryTransportLost, .rpcProtected:
      "state"
    default: "event"
    }
  }

  fileprivate var direction: String? {
    switch self {
    case .driverInput, .driverInputWithoutEffect, .touchSent, .touchWithheld: "driver"
    default: nil
    }
  }
}
