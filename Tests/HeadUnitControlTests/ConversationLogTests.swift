import SDLHeadUnitLink
import SDLLink
import Synchronization
import Testing

@testable import HeadUnitControl

@Suite struct ConversationLogTests {
  /// The cost of an event does not grow with those before: a second for all of these.
  @Test(.timeLimit(.minutes(1))) func manyEvents() {
    let log = ConversationLog(ConversationWriter(nil, keepsRecent: true, since: .zero))
    let count = Mutex(0)
    log.whenGrown { count.withLock { $0 += 1 } }
    for _ in 0..<300_000 { log.note(.session(id: 1, .videoData([0]))) }
    #expect(count.withLock { $0 } == 300_000)
  }
}
