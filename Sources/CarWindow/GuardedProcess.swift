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

/// The program that guards others (`process_guard.h`): it ends them when this process is gone. A program of its own, so
/// that nothing of this process's memory, such as a private key, is in a second one.
package struct ProcessGuard: Sendable {
  /// Its name in the folder of the plugin.
  package static let name = "sdl-process-guard"
  private static let argument = "--process-guard"

  /// How it is started.
  let command: [String]

  /// This program, which calls ``run(_:)`` before anything else.
  package static let thisProgram = ProcessGuard(command: ["/proc/self/exe", argument])

  /// The one in the folder of the plugin, or of whatever program has this code inside; otherwise the one in PATH.
  static func installed() throws(CarWindowError) -> ProcessGuard {
    let file = guard_own_file().map { String(cString: $0) } ?? ""
    let folder = file.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    let beside = "\(folder.isEmpty ? "." : folder)/\(name)"
    if access(beside, X_OK) == 0 { return ProcessGuard(command: [beside]) }
    if let path = CarWindow.path(of: name) { return ProcessGuard(command: [path]) }
    throw CarWindowError(
      .missing, "\(beside) is missing, which ends programs together with this one: install it beside the plugin")
  }

  /// Does a guard's work, if the arguments ask for it.
  /// - Returns: the status to exit with; nil if they do not.
  package static func run(_ arguments: [String]) -> Int32? {
    guard arguments.dropFirst().first == argument else { return nil }
    let rest = CStrings(Array(arguments.dropFirst(2)))
    return withExtendedLifetime(rest) { guard_main(Int32(clamping: rest.count), rest.pointer) }
  }
}

/// Strings as a C array that ends with NULL.
final class CStrings {
  let pointer: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
  let count: Int

  init(_ texts: [String]) {
    count = texts.count
    pointer = .allocate(capacity: texts.count + 1)
    for (index, text) in texts.enumerated() { (pointer + index).initialize(to: strdup(text)) }
    (pointer + count).initialize(to: nil)
  }

  deinit {
    for index in 0..<count { free(pointer[index]) }
    pointer.deallocate()
  }
}

/// The last lines that a program has written.
struct OutputTail: Sendable {
  private static let maximumLineCount = 10
  /// In bytes; a longer line continues as another one.
  private static let maximumLineLength = 400

  private var complete: [String] = []
  private var rest: [UInt8] = []

  /// Takes bytes; returns the lines that they have completed.
  mutating func append(_ bytes: some Sequence<UInt8>) -> [String] {
    var lines: [String] = []
    for byte in bytes {
      if byte == UInt8(ascii: "\n") || rest.count >= Self.maximumLineLength {
        lines.append(Self.text(rest))
        rest = []
      }
      if byte != UInt8(ascii: "\n") { rest.append(byte) }
    }
    complete = Array((complete + lines).suffix(Self.maximumLineCount))
    return lines
  }

  /// The last of them, with the one that is not complete yet.
  var lines: [String] {
    (complete + (rest.isEmpty ? [] : [Self.text(rest)])).filter { !$0.isEmpty }.suffix(Self.maximumLineCount)
  }

  private static func text(_ bytes: [UInt8]) -> String {
    String(decoding: bytes, as: UTF8.self).filter { !($0.unicodeScalars.first?.properties.generalCategory == .control) }
  }
}

/// Folders that only this user can read.
enum PrivateFolder {
  /// Makes one with a unique name, in the session's run-time folder.
  static func make() throws(CarWindowError) -> String {
    let parent = CarWindow.environment["XDG_RUNTIME_DIR"].flatMap { access($0, W_OK) == 0 ? $0 : nil } ?? "/tmp"
    var template = Array("\(parent)/sdl-car-window-\(getpid())-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw CarWindowError(.failed, "Can't create a folder in \(parent): \(String(cString: strerror(errno)))")
    }
    return String(decoding: template.dropLast().map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
  }
}
