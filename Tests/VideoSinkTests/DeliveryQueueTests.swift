import GStreamerKit
import SDLApp
import SDLLink
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Events and messages that wait to be delivered.
@Suite struct DeliveryQueueTests {
  @Test func oneThreadDeliversWhatAllAdd() {
    var queue = DeliveryQueue<Int>()
    #expect(!queue.claim() && !queue.add([]))
    #expect(queue.add([1, 2]) && !queue.add([3]) && !queue.claim())
    #expect((0..<4).map { _ in queue.next() } == [1, 2, 3, nil])
    // It has nothing more to deliver, so another one may.
    queue.append([4])
    #expect(queue.count == 1 && queue.claim() && queue.next() == 4)
    queue.append([5, 6])
    queue.replaceAll(with: [7])
    #expect(queue.next() == 7 && queue.next() == nil)
  }

  @Test func nothingIsAddedAfterTheLast() {
    var queue = DeliveryQueue<Int>()
    queue.append([1])
    queue.seal(with: [2])
    #expect(queue.isSealed && !queue.isClosed)
    #expect(queue.add([3]) && queue.next() == 1 && queue.next() == 2 && queue.next() == nil)
    queue = DeliveryQueue()
    queue.append([1])
    queue.close()
    #expect(queue.isSealed && queue.isClosed && !queue.add([2]) && queue.next() == nil)
  }

  /// Not while another thread is in a handler; that thread itself may.
  @Test func theEndTakesOver() throws {
    let queue = Monitor(DeliveryQueue<Int>())
    #expect(queue.withLock { $0.add([1]) && $0.takeOver() })
    func isTakenOverElsewhere() throws -> Bool {
      let isTaken = Monitor(false)
      let thread = WorkerThread(name: "end")
      try thread.start { isTaken.withLock { $0 = queue.withLock { $0.takeOver() } } }
      thread.join()
      return isTaken.withLock { $0 }
    }
    #expect(try !isTakenOverElsewhere())
    #expect(queue.withLock { [$0.next(), $0.next()] } == [1, nil])
    #expect(try isTakenOverElsewhere())
  }
}

/// An end that waits for a handler on another thread goes on once that has returned, not only after its time-out.
///
/// A busy machine may let it wait for longer than that, so one success in several tries is enough.
@Suite struct AwaitedHandlerTests {
  private final class Gate: Sendable {
    private let isOpen = Monitor(false)
    private let isReached = Monitor(false)

    /// In the handler.
    func pass() {
      isReached.change { $0 = true }
      isOpen.wait(atLatest: MonotonicClock.now + testTimeout) { $0 }
    }

    func waitUntilReached() -> Bool {
      isReached.wait(atLatest: MonotonicClock.now + testTimeout) { $0 }
    }

    func open() { isOpen.change { $0 = true } }
  }

  /// Whether `end` returns in less than `limit` while `deliver` is in its handler, which returns after `end` has begun.
  private func goesOn(
    within limit: Duration, deliver: @escaping @Sendable (Gate) -> Void, end: () -> Void
  ) throws -> Bool {
    let gate = Gate()
    let handler = WorkerThread(name: "handler")
    try handler.start { deliver(gate) }
    defer { handler.join() }
    try #require(gate.waitUntilReached())
    let opener = WorkerThread(name: "opener")
    let opened = Monitor(Duration.zero)
    try opener.start {
      // By then the end waits.
      g_usleep(20_000)
      opened.withLock { $0 = MonotonicClock.now }
      gate.open()
    }
    let began = MonotonicClock.now
    end()
    let ended = MonotonicClock.now
    opener.join()
    return opened.withLock { $0 } - began > .milliseconds(10) && ended - began < limit
  }

  @Test func notifications() throws {
    var hasGoneOn = false
    var hasEnded = false
    for _ in 0..<20 where !hasGoneOn {
      let queue = NotificationQueue<Int>()
      queue.add(1)
      hasGoneOn = try goesOn(within: DeliveryQueue<Int>.closeTimeout) { gate in
        queue.deliver { _ in gate.pass() }
      } end: {
        hasEnded = queue.end { _ in }
      }
    }
    #expect(hasGoneOn && hasEnded)
  }

  /// The sink of a pipeline that may push events, with a recorder whose handler waits at the gate that is set.
  private func withSink(
    _ body: (Element, VideoSink, NavigationRecorder, Monitor<Gate?>) throws -> Void
  ) throws {
    let harness = try SinkHarness()
    harness.pipeline.setState(GST_STATE_PAUSED)
    let element = try harness.pipeline.sink
    let present = Monitor<Gate?>(nil)
    let recorder = NavigationRecorder(at: try element.pad("sink")) { present.withLock { $0.take() }?.pass() }
    try withExtendedLifetime(harness) { try body(element, VideoSink(element.pointer.cast()), recorder, present) }
  }

  /// The keys that are down go up behind the events that the handler has delayed.
  @Test func keys() throws {
    try withSink { _, sink, recorder, present in
      var hasGoneOn = false
      for _ in 0..<20 where !hasGoneOn {
        let keys = KeyForwarder(sink: sink, time: .monotonic)
        hasGoneOn = try goesOn(within: DeliveryQueue<Int>.closeTimeout) { gate in
          present.withLock { $0 = gate }
          keys.receive([.press(.ok)])
        } end: {
          keys.finish()
        }
      }
      #expect(hasGoneOn && recorder.texts.suffix(2) == ["key-press Return", "key-release Return"])
    }
  }

  @Test func touches() throws {
    try withSink { element, sink, recorder, present in
      let app = try #require(sinkObject(element)?.app)
      var hasGoneOn = false
      for _ in 0..<20 where !hasGoneOn {
        let touches = TouchForwarder(sink: sink, connection: app.connection, time: .monotonic)
        hasGoneOn = try goesOn(within: DeliveryQueue<Int>.closeTimeout) { gate in
          present.withLock { $0 = gate }
          touches.receive([.down(Touch(id: 0, position: TouchPosition(x: 1, y: 2)))])
        } end: {
          touches.finish()
        }
      }
      #expect(hasGoneOn && recorder.texts.suffix(2) == ["touch-down 0 (1.0, 2.0)", "touch-cancel"])
    }
  }

  /// What the element itself works with.
  private func sinkObject(_ element: Element) -> VideoSink? {
    BaseSinkType.object(of: element.pointer).sink as? VideoSink
  }
}
