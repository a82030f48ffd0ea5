import Glibc
import Testing

@testable import SDLAppLink
@testable import SDLLink

/// The writing half of one transport, and the end of a service on it.
@Suite struct OutgoingLinkTests {
  @Test func bytesAreCounted() throws {
    var link = OutgoingLink(try Socket.pair().0)
    link.note(.bytes(100), isSound: false)
    link.note(.bytes(30), isSound: true)
    #expect(link.sentByteCount == 130 && link.soundByteCount == 30)
    #expect(link.isWritable && link.isConnected)
    link.note(.wouldBlock, isSound: true)
    #expect(!link.isWritable && link.isConnected && link.sentByteCount == 130)
    link.isBlocked = false
    link.note(.failed(errno: EPIPE), isSound: false)
    #expect(!link.isWritable && !link.isConnected && link.failure == .failed(errno: EPIPE))
    #expect(link.sample(now: .zero) == nil)
  }

  @Test func noTransport() {
    let link = OutgoingLink()
    #expect(!link.isWritable && !link.isConnected && link.sample(now: .zero) == nil)
  }

  /// The head unit has all media once it has acknowledged as many bytes as had been handed over at the end.
  @Test func delivery() {
    var drain = Drain(deadline: .zero)
    let looks: [(handed: UInt64, unacknowledged: UInt64, isDelivered: Bool)] = [
      (1000, 300, false), (1500, 501, false), (1500, 500, true), (2000, 1000, true),
    ]
    for look in looks {
      let isDelivered = drain.isDelivered(handed: look.handed, unacknowledged: look.unacknowledged)
      #expect(isDelivered == look.isDelivered, "\(look)")
    }
    var overhead = Drain(deadline: .zero)
    // A socket pair counts the kernel's own bytes as well.
    let isDelivered = [
      overhead.isDelivered(handed: 10, unacknowledged: 500), overhead.isDelivered(handed: 10, unacknowledged: 0),
    ]
    #expect(isDelivered == [false, true])
  }
}
