import Foundation
import Glibc

/// Says which seed it was when the code under test crashes, or loops without end, which virtual time can't see: the
/// kernel sends signals for both, the second one after so much CPU time, however busy the machine is.
final class RunWatch {
  /// Of CPU time.
  private static let limit = 300
  private static let signals = [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGVTALRM]
  /// What the handler writes, since it may not even print. One simulation runs at a time.
  nonisolated(unsafe) private static var text: [UInt8] = []

  init() {
    for number in Self.signals {
      signal(number) { number in
        RunWatch.text.withUnsafeBytes { _ = write(STDOUT_FILENO, $0.baseAddress, $0.count) }
        // As it would have ended without this.
        signal(number, SIG_DFL)
        raise(number)
      }
    }
  }

  func begin(_ seed: UInt64) {
    Self.text = Array(
      "seed \(seed) crashes, or does not end in \(Self.limit) s. Again: make simulate SEED=\(seed)\n".utf8)
    setTimer(Self.limit)
  }

  func end() {
    setTimer(0)
    Self.text = []
  }

  private func setTimer(_ seconds: Int) {
    var time = itimerval(it_interval: timeval(), it_value: timeval(tv_sec: seconds, tv_usec: 0))
    setitimer(__itimer_which_t(ITIMER_VIRTUAL.rawValue), &time, nil)
  }
}
