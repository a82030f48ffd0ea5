import Glibc
import SDLLink

/// A private PulseAudio server, for a machine on which none runs. It ends with this object.
final class SoundServer {
  private static let startTimeout = Duration.seconds(10)

  private let process: GuardedProcess
  private let folder: String
  private var socket: String { "\(folder)/socket" }

  /// For its clients. Without a file for a cookie, which this server does not ask for, libpulse would make one in the
  /// user's home.
  var environment: [String: String] { ["PULSE_SERVER": "unix:\(socket)", "PULSE_COOKIE": "\(folder)/cookie"] }

  /// Starts it, and waits until it can be connected to.
  /// - Parameter processGuard: nil is the installed one.
  init(guardedBy processGuard: ProcessGuard? = nil) throws(CarWindowError) {
    folder = try PrivateFolder.make()
    let socket = "\(folder)/socket"
    var environment = CarWindow.environment
    for name in ["PULSE_RUNTIME_PATH", "PULSE_STATE_PATH", "XDG_RUNTIME_DIR", "HOME"] { environment[name] = folder }
    for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "PULSE_COOKIE"] { environment[name] = nil }
    do throws(CarWindowError) {
      process = try GuardedProcess(
        GuardedProcess.Command(
          arguments: [
            "pulseaudio", "-n", "--daemonize=no", "--use-pid-file=no", "--exit-idle-time=-1", "--disallow-exit=yes",
            "--disable-shm=yes", "--realtime=no", "--high-priority=no", "--log-level=warn",
            "--load=module-suspend-on-idle timeout=1",
            "--load=module-native-protocol-unix auth-anonymous=1 auth-cookie-enabled=0 socket=\(socket)",
          ], environment: environment, folder: "/", passed: nil, privateFolder: folder), guardedBy: processGuard)
    } catch {
      rmdir(folder)
      throw error
    }
    try waitForSocket()
  }

  private func waitForSocket() throws(CarWindowError) {
    var tail = OutputTail()
    let deadline = MonotonicClock.now + Self.startTimeout
    while access(socket, F_OK) != 0 {
      var polled = [process.reports, process.output].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      // It does not announce its socket.
      _ = poll(&polled, nfds_t(polled.count), 20)
      if let bytes = process.takeOutput() { _ = tail.append(bytes) }
      guard !process.takeEnd(), MonotonicClock.now < deadline else {
        throw CarWindowError(.failed, (["PulseAudio does not start."] + tail.lines).joined(separator: " "))
      }
    }
  }

  /// To be polled.
  var output: Int32 { process.output }

  /// Discards its output, which must not fill the pipe.
  func discardOutput() {
    _ = process.takeOutput()
  }

  /// Ends it, and waits for that.
  func stop() { process.end(within: .seconds(5)) }
}
