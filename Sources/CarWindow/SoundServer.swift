import Glibc
import SDLLink

/// A private PulseAudio server with a null sink, from which the sound of one program, and only that, can be recorded.
/// It ends with this object.
public final class SoundServer {
  /// PulseAudio's source from which the sound can be recorded.
  public static let device = "car.monitor"
  private static let startTimeout = Duration.seconds(10)

  private let process: GuardedProcess
  private let socket: String

  /// As the program's PULSE_SERVER has to be.
  public var address: String { "unix:\(socket)" }

  /// Starts it, and waits until it can be connected to.
  /// - Parameter processGuard: nil is the installed one.
  public init(guardedBy processGuard: ProcessGuard? = nil) throws(CarWindowError) {
    guard CarWindow.path(of: "pulseaudio") != nil else {
      throw CarWindowError(.missing, "Sound needs PulseAudio: install pulseaudio, or use --no-sound")
    }
    let folder = try PrivateFolder.make()
    socket = "\(folder)/socket"
    var environment = CarWindow.environment
    for name in ["PULSE_RUNTIME_PATH", "PULSE_STATE_PATH", "XDG_RUNTIME_DIR", "HOME"] { environment[name] = folder }
    do throws(CarWindowError) {
      process = try GuardedProcess(
        GuardedProcess.Command(
          arguments: [
            "pulseaudio", "-n", "--daemonize=no", "--use-pid-file=no", "--exit-idle-time=-1", "--disallow-exit=yes",
            "--disable-shm=yes", "--realtime=no", "--high-priority=no", "--log-level=warn",
            "--load=module-null-sink sink_name=car sink_properties=device.description=Car rate=48000 channels=2",
            "--load=module-native-protocol-unix auth-anonymous=1 auth-cookie-enabled=0 socket=\(socket)",
          ], environment: environment, folder: "/", passed: nil, file: (socket, folder)), guardedBy: processGuard)
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

  /// Ends it, and waits for that.
  public func stop() { process.end(within: .seconds(5)) }
}
