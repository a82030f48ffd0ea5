import CLinux
import Glibc
import SDLLink
import Synchronization

/// A private Xvfb, to which only clients with the cookie can connect.
final class VirtualServer {
  /// How long it may take until it can be connected to.
  static let startTimeout = Duration.seconds(15)

  /// Of displays. A server that looks for a free number by itself takes the lowest, and loses its socket if the former
  /// owner of that number is just about to end.
  private static let numbers = 1000...50_000

  let process: GuardedProcess
  let cookie: [UInt8]
  /// Of the Xauthority file.
  let authority: String
  private var number: Int32?
  private var numberDescriptor: Int32
  private var numberText: [UInt8] = []

  /// - Parameters:
  ///   - maximumSize: of the screen.
  init(maximumSize: ScreenSize, pixelsPerInch: Int) throws(CarWindowError) {
    guard let program = CarWindow.path(of: "Xvfb") else {
      throw CarWindowError(.missing, "The program's screen needs Xvfb: install xvfb")
    }
    var generator = SystemRandomNumberGenerator()
    cookie = (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
    let (folder, file) = try Self.write(cookie)
    authority = file
    var (reading, writing): (Int32, Int32) = (-1, -1)
    guard linux_pipe(&reading, &writing) == 0 else {
      let error = LinkError.system(operation: "pipe", errno: errno)
      unlink(file)
      rmdir(folder)
      throw CarWindowError(.failed, "\(error)")
    }
    defer { close(writing) }
    numberDescriptor = reading
    do throws(CarWindowError) {
      process = try GuardedProcess(
        GuardedProcess.Command(
          arguments: [
            program, ":\(Int.random(in: Self.numbers, using: &generator))", "-displayfd", "3", "-screen", "0",
            "\(maximumSize.width)x\(maximumSize.height)x24", "-nolisten",
            "tcp",
            "-auth", file, "-dpi", "\(pixelsPerInch)", "-noreset",
          ], environment: CarWindow.environment, folder: "/", passed: writing, privateFolder: folder))
    } catch {
      unlink(file)
      rmdir(folder)
      close(reading)
      throw error
    }
  }

  deinit {
    if numberDescriptor >= 0 { close(numberDescriptor) }
  }

  /// Such as `:1`; nil before it can be connected to.
  var display: String? { number.map { ":\($0)" } }

  /// To be polled; -1 once the display is known.
  var descriptor: Int32 { numberDescriptor }

  /// Reads the number of the display, which Xvfb writes when it accepts connections. Xvfb ends if the pipe is closed
  /// before the line is complete.
  func readNumber() {
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = read(numberDescriptor, &bytes, bytes.count)
    if count < 0, errno == EAGAIN || errno == EINTR { return }
    numberText += bytes.prefix(max(0, count))
    guard count <= 0 || numberText.contains(UInt8(ascii: "\n")) || numberText.count > bytes.count else { return }
    close(numberDescriptor)
    numberDescriptor = -1
    number = Int32(String(decoding: numberText.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
  }

  /// Removes the socket that a killed server has left. (It has no lock file, as the number is told through a
  /// descriptor.)
  func removeTraces() {
    if let number { unlink("/tmp/.X11-unix/X\(number)") }
  }

  /// Writes an Xauthority file that only this user can read.
  private static func write(_ cookie: [UInt8]) throws(CarWindowError) -> (folder: String, file: String) {
    let folder = try PrivateFolder.make()
    let file = "\(folder)/cookie"
    let method = Array("MIT-MAGIC-COOKIE-1".utf8)
    // FamilyWild, no address, no number (Xau's file format; lengths and numbers are big-endian).
    let entry: [UInt8] = [0xFF, 0xFF, 0, 0, 0, 0, 0, UInt8(method.count)] + method + [0, UInt8(cookie.count)] + cookie
    let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    let isWritten = descriptor >= 0 && Glibc.write(descriptor, entry, entry.count) == entry.count
    let code = errno
    if descriptor >= 0 { close(descriptor) }
    guard isWritten else {
      unlink(file)
      rmdir(folder)
      throw CarWindowError(.failed, "\(file) can't be written: \(String(cString: strerror(code)))")
    }
    return (folder, file)
  }
}
