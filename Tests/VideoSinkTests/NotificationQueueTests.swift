import SDLApp
import SDLLink
import TestSupport
import Testing

@testable import Plugin

/// The order of a stream's messages and changes of state, and their end.
@Suite struct NotificationQueueTests {
  private let queue = NotificationQueue<Int>()
  private let delivered = Monitor<[String]>([])

  private func deliver(_ item: NotificationQueue<Int>.Item) {
    let text =
      switch item {
      case .notification(let number): "\(number)"
      case .state(let state): "\(state)"
      case .driverWait: "driver"
      }
    delivered.change { $0.append(text) }
  }

  private var log: [String] { delivered.withLock { $0 } }

  @Test func eachChangeOfStateOnceAndInOrder() {
    #expect(!queue.add(.stopped))
    queue.add(1)
    #expect(queue.add(.starting) && !queue.add(.starting))
    queue.add(2)
    #expect(queue.add(.streaming))
    queue.deliver(deliver)
    queue.deliver(deliver)
    #expect(log == ["1", "starting", "2", "streaming"])
  }

  /// The stop was added, and its thread has not come to deliver it.
  @Test func theEndDeliversTheRest() {
    #expect(queue.add(.streaming))
    queue.deliver(deliver)
    queue.add(1)
    #expect(queue.add(.stopped))
    #expect(queue.end(deliver))
    #expect(log == ["streaming", "1", "stopped"])
    queue.add(2)
    queue.deliver(deliver)
    #expect(log.count == 3)
  }

  /// A handler on another thread may itself wait for the end.
  @Test func theEndDoesNotWaitForeverForAHandler() throws {
    let (isInHandler, hasEnded) = (Monitor(false), Monitor(false))
    queue.add(1)
    let thread = WorkerThread(name: "handler")
    try thread.start { [self] in
      queue.deliver { item in
        isInHandler.change { $0 = true }
        #expect(hasEnded.wait(atLatest: MonotonicClock.now + testTimeout) { $0 })
        deliver(item)
      }
    }
    #expect(isInHandler.wait(atLatest: MonotonicClock.now + testTimeout) { $0 })
    queue.add(2)
    #expect(!queue.end(deliver))
    hasEnded.change { $0 = true }
    thread.join()
    #expect(log == ["1"])
  }

  /// A handler that stops the pipeline ends the stream on the thread that delivers.
  @Test func theEndInAHandler() {
    queue.add(1)
    queue.add(2)
    queue.deliver { item in
      deliver(item)
      if log.count == 1 { #expect(queue.end(deliver)) }
    }
    #expect(log == ["1", "2"])
  }
}
