import Glibc

/// The longest wait for anything: generous, because the machine may be busy with other things.
package let testTimeout = Duration.seconds(30)

/// Polls until `condition` holds, for states without a notification; false after ``testTimeout``.
package func eventually(_ condition: () -> Bool) -> Bool {
  let deadline = ContinuousClock.now + testTimeout
  while !condition() {
    guard ContinuousClock.now < deadline else { return false }
    usleep(2000)
  }
  return true
}
