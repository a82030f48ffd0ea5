import SDLHeadUnit
import SDLLink
import SDLWire
import TLSEngine

extension TLSContext {
  /// Makes a channel for each handshake of the apps of a head unit. Each costs some milliseconds of computing, and an
  /// app that makes too many can connect anew each time.
  func makeChannel(within limit: RateLimit, clock: TimeSource) -> SecureChannelFactory {
    let limit = Monitor(limit)
    return { () throws(SecureChannelFailure) in
      guard !limit.withLock({ $0.exceeds(at: clock.now) }) else {
        throw SecureChannelFailure(.handshakeFailed, "too many handshakes of all apps")
      }
      return TLSChannel(self.makeSession())
    }
  }
}
