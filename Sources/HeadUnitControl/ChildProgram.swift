import CLinux
import Glibc
import SDLLink

/// Another program, which this one starts and ends: the one that is tested, or a tool.
package final class ChildProgram: Sendable {
  /// How the program has ended.
  package enum Status: Equatable, Sendable, CustomStringConvertible {
    case exited(Int32)
    case signalled(Int32)

    init(waitStatus: Int32) {
      let signal = waitStatus & 0x7F
      self = signal == 0 ? .exited(waitStatus >> 8 & 0xFF) : .signalled(signal)
    }

    package var description: String {
      switch self {
      case .exited(let code): "\(code)"
      case .signalled(let signal): "signal-\(signal)"
      }
    }
  }

  private struct State: Sendable {
    var status: Status?
    var isOutputClosed = false
    /// It was running when the head unit ended it.
    var isEnded = false
  }

  /// The time from SIGTERM to SIGKILL.
  private static let graceTime = Duration.seconds(2)
  /// Longer lines of output are cut, and end with an ellipsis.
  private static let maximumLineLength = 4096

  private let pid: pid_t
  private let state: Monitor<State>

  /// Starts the program.
  /// - Parameters:
  ///   - environment: is added to this program's.
  ///   - output: gets each line that it writes.
  ///   - ended: called when it has ended by itself.
  package init(
    _ arguments: [String], environment: [String: String], output: @escaping @Sendable (String) -> Void,
    ended: @escaping @Sendable (Status) -> Void
  ) throws(LinkError) {
    var reading: Int32 = -1
    var writing: Int32 = -1
    guard linux_pipe(&reading, &writing) == 0 else { throw .system(operation: "make a pipe", errno: errno) }
    defer { close(writing) }
    do {
      pid = try Self.spawn(arguments, environment, output: writing)
    } catch {
      close(reading)
      throw error
    }
    state = Monitor(State())
    try WorkerThread.detach(name: "program-output") { [state, reading] in
      Self.readLines(reading, output)
      close(reading)
      state.change { $0.isOutputClosed = true }
    }
    try WorkerThread.detach(name: "program") { [pid, state] in
      var status: Int32 = 0
      while waitpid(pid, &status, 0) < 0, errno == EINTR {}
      let end = Status(waitStatus: status)
      let isByItself = state.change { state in
        state.status = end
        return !state.isEnded
      }
      if isByItself { ended(end) }
    }
  }

  /// Nil while it runs.
  package var status: Status? { state.withLock { $0.status } }

  /// Whether it has ended by itself, and not with status 0.
  package var hasFailed: Bool { state.withLock { !$0.isEnded && $0.status.map { $0 != .exited(0) } == true } }

  /// Waits for its end; nil if it does not come in time.
  package func wait(until deadline: Duration) -> Status? {
    state.wait(until: deadline) { $0.status }
  }

  /// Ends the program with all that it has started, and waits for the rest of its output.
  package func end() {
    state.withLock { $0.isEnded = $0.status == nil }
    if status == nil { kill(-pid, SIGTERM) }
    state.wait(atLatest: MonotonicClock.now + Self.graceTime) { $0.status != nil }
    // What it has started may have its output open, and go on.
    kill(-pid, SIGKILL)
    state.wait(atLatest: MonotonicClock.now + Self.graceTime) { $0.status != nil && $0.isOutputClosed }
  }

  /// In a process group of its own, with signals as from a shell.
  private static func spawn(
    _ arguments: [String], _ environment: [String: String], output: Int32
  ) throws(LinkError) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigaddset(&signals, SIGPIPE)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setpgroup(&attributes, 0)
    let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
    posix_spawnattr_setflags(&attributes, Int16(flags))
    var words = arguments.map { strdup($0) } + [nil]
    var variables = variables(with: environment)
    defer { for text in words + variables { free(text) } }
    var pid = pid_t()
    let result = posix_spawnp(&pid, arguments[0], &actions, &attributes, &words, &variables)
    guard result == 0 else { throw .system(operation: "start \(arguments[0])", errno: result) }
    return pid
  }

  /// Those of this process, with others added or replaced, and NULL at the end. Other threads may read the environment
  /// of the process, so that stays as it is.
  private static func variables(with others: [String: String]) -> [UnsafeMutablePointer<CChar>?] {
    var all: [UnsafeMutablePointer<CChar>?] = others.map { strdup("\($0)=\($1)") }
    var next = environ
    while let entry = next.pointee {
      if others[String(String(cString: entry).prefix { $0 != "=" })] == nil { all.append(strdup(entry)) }
      next += 1
    }
    return all + [nil]
  }

  private static func readLines(_ descriptor: Int32, _ output: (String) -> Void) {
    var line: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN {
        var descriptors = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
        poll(&descriptors, 1, -1)
        continue
      }
      guard count > 0 else { break }
      for byte in buffer[..<count] {
        if byte == UInt8(ascii: "\n") {
          output(String(decoding: line, as: UTF8.self))
          line.removeAll(keepingCapacity: true)
        } else if line.count < maximumLineLength {
          line.append(byte)
        } else if line.count == maximumLineLength {
          line += "…".utf8
        }
      }
    }
    if !line.isEmpty { output(String(decoding: line, as: UTF8.self)) }
  }
}
