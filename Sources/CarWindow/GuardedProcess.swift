import CLinux
import Glibc
import SDLLink

/// A program below a guard (`process_guard.h`), which ends it and all its descendants when this object or this process
/// is gone.
final class GuardedProcess {
  enum Exit: Equatable, Sendable, CustomStringConvertible {
    case status(Int32)
    case signal(Int32)

    /// As shells have it: its status, or 128 and the signal.
    var status: Int32 {
      switch self {
      case .status(let value): value
      case .signal(let number): 128 &+ number
      }
    }

    /// Such as "by signal 9", after "has ended".
    var description: String {
      switch self {
      case .status(let value): "with the status \(value)"
      case .signal(let number): "by signal \(number)"
      }
    }

    /// As waitpid(2) says it.
    init(waitStatus: Int32) {
      let signal = waitStatus & 0x7F
      self = signal == 0 ? .status((waitStatus >> 8) & 0xFF) : .signal(signal)
    }
  }

  enum Report: Equatable {
    case started(pid: Int32)
    /// It could not be started; errno.
    case failed(Int32)
    case ended(Exit)
  }

  struct Command {
    var arguments: [String]
    var environment: [String: String]
    /// Nil is the folder of this process.
    var folder: String?
    /// Becomes its descriptor 3.
    var passed: Int32?
    /// Removed with the files in it when the program has ended.
    var privateFolder: String?
  }

  let name: String
  /// To be polled; -1 once closed.
  private(set) var reports: Int32 = -1
  private(set) var output: Int32 = -1
  private var control: Int32 = -1

  /// - Parameter processGuard: nil is the installed one.
  init(_ command: Command, guardedBy processGuard: ProcessGuard? = nil) throws(CarWindowError) {
    name = command.arguments.first ?? ""
    let processGuard = if let processGuard { processGuard } else { try ProcessGuard.installed() }
    let guardCommand = CStrings(processGuard.command)
    var (reading, writing): (Int32, Int32) = (-1, -1)
    guard linux_pipe(&reading, &writing) == 0 else { throw Self.systemError("pipe") }
    defer { close(writing) }
    let arguments = CStrings(command.arguments)
    let environment = CStrings(command.environment.map { "\($0)=\($1)" })
    var guarded = guarded_command(
      guard: guardCommand.pointer, arguments: arguments.pointer, environment: environment.pointer, folder: nil,
      output: writing, passed: command.passed ?? -1, private_folder: nil)
    let folders = CStrings([command.folder ?? "", command.privateFolder ?? ""])
    if command.folder != nil { guarded.folder = UnsafePointer(folders.pointer[0]) }
    if command.privateFolder != nil { guarded.private_folder = UnsafePointer(folders.pointer[1]) }
    let result = withExtendedLifetime((guardCommand, arguments, environment, folders)) {
      guard_start(&guarded, &control, &reports)
    }
    guard result == 0 else {
      let error = Self.systemError("fork")
      close(reading)
      throw error
    }
    output = reading
  }

  deinit {
    for descriptor in [control, reports, output] where descriptor >= 0 { close(descriptor) }
  }

  private static func systemError(_ operation: String) -> CarWindowError {
    CarWindowError(.failed, "\(LinkError.system(operation: operation, errno: errno))")
  }

  /// Ends it and all its descendants; ``takeReport()`` tells when that is done.
  func terminate() {
    if control >= 0 { close(control) }
    control = -1
  }

  /// Ends it and all its descendants, and waits for that; the guard needs 4 s at most.
  func end(within time: Duration) {
    terminate()
    let deadline = MonotonicClock.now + time
    while reports >= 0, MonotonicClock.now < deadline {
      var polled = [reports, output].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      _ = poll(&polled, nfds_t(polled.count), 100)
      // A full pipe would keep the program from a clean exit.
      _ = takeOutput()
      while let report = takeReport() { if case .ended = report { return } }
    }
  }

  /// Takes all reports; says whether it has ended, or could not be started.
  func takeEnd() -> Bool { takeExit() != nil }

  /// Takes all reports; how it has ended, with the shell's status 127 if it could not be started. Nil if it runs.
  func takeExit() -> Exit? {
    var exit: Exit?
    while let report = takeReport() {
      switch report {
      case .started: break
      case .failed: exit = .status(127)
      case .ended(let value): exit = value
      }
    }
    return exit
  }

  /// What is new; nil if nothing is.
  func takeReport() -> Report? {
    guard reports >= 0 else { return nil }
    var message = guard_report()
    // The guard writes each with one call, so that none comes in parts.
    let count = withUnsafeMutableBytes(of: &message) { read(reports, $0.baseAddress, $0.count) }
    if count < 0, errno == EAGAIN || errno == EINTR { return nil }
    guard count == MemoryLayout<guard_report>.size else {
      // The guard itself was killed: nothing is known of the program.
      close(reports)
      reports = -1
      return .ended(.signal(SIGKILL))
    }
    switch UInt32(bitPattern: message.kind) {
    case GUARD_STARTED.rawValue: return .started(pid: message.value)
    case GUARD_FAILED.rawValue: return .failed(message.value)
    default:
      close(reports)
      reports = -1
      return .ended(Exit(waitStatus: message.value))
    }
  }

  /// Its new output, as much as a pipe holds; nil if there is none. A program may write faster than a loop would read.
  func takeOutput() -> [UInt8]? {
    guard output >= 0 else { return nil }
    var count = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, initializedCount in
      count = read(output, buffer.baseAddress, buffer.count)
      initializedCount = max(count, 0)
    }
    if count > 0 { return bytes }
    if count == 0 || (errno != EAGAIN && errno != EINTR) {
      close(output)
      output = -1
    }
    return nil
  }
}
