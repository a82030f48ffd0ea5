import Glibc
import SDLHeadUnit
import SDLLink
import Synchronization

/// Prints a line per event, keeps totals, and records the video.
final class EventPrinter: HeadUnitServerObserver {
  private struct Totals: Sendable {
    var video = VideoStreamStatistics()
    var violations = 0
    /// Sessions with a registered app.
    var registered: Set<UInt8> = []
  }

  private let options: Options
  private let totals = Mutex(Totals())
  private let recording = Atomic<Int32>(-1)

  init(options: Options) {
    self.options = options
  }

  /// Creates the file for the video.
  func record(to path: String) throws(LinkError) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw .system(operation: "open \(path)", errno: errno) }
    recording.store(descriptor, ordering: .relaxed)
  }

  var hasViolations: Bool { totals.withLock { $0.violations > 0 } }

  var isAppRegistered: Bool { totals.withLock { !$0.registered.isEmpty } }

  /// The counters of all connections that have ended.
  var summary: String {
    let totals = totals.withLock { $0 }
    return "summary messages=\(totals.video.messages) bytes=\(totals.video.bytes) pictures=\(totals.video.pictures) "
      + "key-frames=\(totals.video.keyFrames) violations=\(totals.violations)"
  }

  func server(_ server: HeadUnitServer, didReport event: HeadUnitServerEvent) {
    switch event {
    case .connected(let id, let peer): say("\(id) connected \(peer)")
    case .refused(let peer): say("refused \(peer)")
    case .session(_, .videoData(let bytes)): write(bytes)
    case .session(let id, .violation(let violation)):
      guard options.isChecking else { return }
      totals.withLock { $0.violations &+= 1 }
      printLine("\(id) violation: \(violation)")
    case .session(let id, .driverInputWithoutEffect(let input, let fault)):
      printLine("\(id) without effect: \(input), because \(fault)")
    case .session(let id, let event):
      noteRegistration(event, of: id)
      if let text = event.text { say("\(id) \(text)") }
    case .disconnected(let id, let error, let statistics):
      totals.withLock { $0.video.add(statistics) }
      say("\(id) disconnected\(error.map { ": \($0)" } ?? "")")
      if options.leavesWithApp { kill(getpid(), SIGTERM) }
    case .carriedOut(let step, let id): say("\(id.map { "\($0) " } ?? "")script, line \(step.line): \(step.text)")
    case .leftOut(let step, let id):
      let reason = id.map { "app \($0) is gone" } ?? "no app is registered"
      printLine("warning: script, line \(step.line) without effect, \(reason): \(step.text)")
    case .stepsDropped:
      let limit = HeadUnitScriptRun.maximumWaitingCount
      printLine("warning: steps of the script are dropped, because \(limit) are waiting already")
    case .ended: break
    }
  }

  private func noteRegistration(_ event: HeadUnitSession.Event, of id: UInt8) {
    switch event {
    case .appRegistered: totals.withLock { _ = $0.registered.insert(id) }
    case .appUnregistered: totals.withLock { _ = $0.registered.remove(id) }
    default: break
    }
  }

  private func say(_ line: String) {
    if !options.isQuiet { printLine(line) }
  }

  private func write(_ bytes: [UInt8]) {
    let descriptor = recording.load(ordering: .relaxed)
    guard descriptor >= 0 else { return }
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        recording.store(-1, ordering: .relaxed)
        return printLine("recording failed: \(LinkError.system(operation: "write", errno: errno))")
      }
      rest = rest.dropFirst(count)
    }
  }
}

extension VideoStreamStatistics {
  fileprivate mutating func add(_ other: VideoStreamStatistics) {
    messages &+= other.messages
    bytes &+= other.bytes
    pictures &+= other.pictures
    keyFrames &+= other.keyFrames
  }
}
