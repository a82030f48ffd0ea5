import SDLWire
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Only the video of the app that has started last is pushed.
@Suite struct ReceivedVideoTests {
  private static let keyFrame: [UInt8] = [
    0, 0, 0, 1, 0x67, 0x42, 0xC0, 0x1F, 0, 0, 0, 1, 0x68, 0xCE, 0x0F, 0, 0, 1, 0x65, 0x88, 0x84,
  ]

  private var video = ReceivedVideo(AccessUnitQueue.Counters())

  private mutating func begin(_ app: UInt8, _ parameters: VideoServiceParameters = .rtp320x240) {
    video.begin(parameters, by: app, now: .zero)
  }

  /// Whether it is pushed, with its RTP timestamp.
  private mutating func append(_ app: UInt8, timestamp: UInt32? = nil) -> Bool {
    if let timestamp { video.setTimestamp(timestamp, from: app) }
    return video.append(Self.keyFrame, from: app, now: .zero)
  }

  private mutating func timestamps() -> [UInt32?] {
    var timestamps: [UInt32?] = []
    while let unit = video.take() { timestamps.append(unit.timestamp) }
    return timestamps
  }

  @Test mutating func theLastAppToStart() {
    let before = append(1, timestamp: 1)
    begin(1)
    let first = append(1, timestamp: 2)
    begin(2)
    let others = [append(1, timestamp: 3), append(2, timestamp: 4)]
    #expect([before, first] + others == [false, true, false, true])
    #expect(video.app == 2 && timestamps() == [2, 4])
    #expect(video.counters.framesIn == 2)
  }

  /// A timestamp is that of one access unit; one that nothing has followed goes with its stream.
  @Test mutating func timestampsOfOneAccessUnit() {
    begin(1)
    _ = append(1, timestamp: 7)
    video.setTimestamp(8, from: 2)
    _ = append(1)
    // The second one waits for its end, as that of a byte stream.
    #expect(timestamps() == [7] && video.flushDeadline != nil)
    video.setTimestamp(9, from: 1)
    begin(1)
    _ = append(1)
    #expect(timestamps().allSatisfy { $0 == nil })
    video.setTimestamp(10, from: 1)
    video.discard()
    begin(1)
    _ = append(1)
    video.flushPending(now: .zero)
    #expect(timestamps() == [nil])
  }

  /// Gaps and ends of other apps do not concern the one that is shown.
  @Test mutating func otherApps() {
    begin(1, .raw320x240)
    _ = video.append(Self.keyFrame, from: 1, now: .milliseconds(3))
    #expect(video.flushDeadline == .milliseconds(203) && video.queuedCount == 0)
    video.noteGap(from: 2, now: .zero)
    video.end(by: 2, now: .zero)
    video.forget(2)
    #expect(video.flushDeadline == .milliseconds(203) && video.queuedCount == 0 && video.app == 1)
    video.end(by: 1, now: .zero)
    #expect(video.flushDeadline == nil && video.queuedCount == 1 && video.app == 1)
    video.forget(1)
    #expect(video.app == nil)
    let isPushed = append(1)
    #expect(!isPushed)
  }

  @Test mutating func otherCodecsAreLeftOut() {
    begin(1, VideoServiceParameters(videoProtocol: "RAW", videoCodec: "H265"))
    var isPushed = append(1)
    #expect(!isPushed && !video.usesRTP)
    // Apps that name no codec mean H.264.
    begin(1, VideoServiceParameters(videoProtocol: "RTP"))
    isPushed = append(1, timestamp: 1)
    #expect(isPushed && video.usesRTP && video.queuedCount == 1)
    video.discard()
    #expect(!video.usesRTP && video.app == nil && video.queuedCount == 0 && video.counters.droppedDiscarded == 1)
  }
}
