import Testing

@testable import SDLApp

/// The way from one size to another.
@Suite struct VideoResizeTests {
  private static let small = VideoSize(480, 320)
  private static let wide = VideoSize(800, 380)
  private static let tall = VideoSize(400, 380)

  /// Has streamed `size`.
  private func streaming(_ size: VideoSize) -> VideoResize {
    var resize = VideoResize()
    #expect(resize.sentFirst(of: size, now: .seconds(1), lostFrames: 7) == nil)
    return resize
  }

  @Test func completes() {
    var resize = streaming(Self.wide)
    resize.begin(now: .seconds(2), lostFrames: 10)
    #expect(resize.isUnderWay)
    #expect(
      resize.sentFirst(of: Self.small, now: .seconds(3), lostFrames: 14)
        == .init(former: Self.wide, present: Self.small, duration: .seconds(1), lostFrames: 4))
    #expect(!resize.isUnderWay && resize.size == Self.small)
    #expect(resize.sentFirst(of: Self.small, now: .seconds(4), lostFrames: 14) == nil)
  }

  @Test func burstIsOneResize() {
    var resize = streaming(Self.wide)
    for second in 2...4 { resize.begin(now: .seconds(second), lostFrames: UInt64(second)) }
    #expect(
      resize.sentFirst(of: Self.tall, now: .seconds(5), lostFrames: 9)
        == .init(former: Self.wide, present: Self.tall, duration: .seconds(3), lostFrames: 7))
  }

  @Test func backToTheOldSizeIsNone() {
    var resize = streaming(Self.wide)
    resize.begin(now: .seconds(2), lostFrames: 0)
    #expect(resize.sentFirst(of: Self.wide, now: .seconds(3), lostFrames: 5) == nil)
    #expect(!resize.isUnderWay)
    resize.begin(now: .seconds(4), lostFrames: 5)
    resize.callOff()
    resize.begin(now: .seconds(8), lostFrames: 6)
    #expect(resize.sentFirst(of: Self.small, now: .seconds(9), lostFrames: 6)?.duration == .seconds(1))
  }

  @Test func nothingBeforeTheFirstFrame() {
    var resize = VideoResize()
    resize.begin(now: .seconds(1), lostFrames: 3)
    #expect(!resize.isUnderWay)
    #expect(resize.sentFirst(of: Self.wide, now: .seconds(2), lostFrames: 3) == nil)
  }

  @Test func changeWithoutNewsTakesNoTime() {
    var resize = streaming(Self.wide)
    #expect(
      resize.sentFirst(of: Self.small, now: .seconds(2), lostFrames: 9)
        == .init(former: Self.wide, present: Self.small, duration: .zero, lostFrames: 0))
  }

  struct Row: Sendable {
    var former: [VideoSize]
    var present: [VideoSize]
    var raw: Bool
    var encoded: Bool
  }

  /// For a stream of 800×380.
  @Test(arguments: [
    Row(former: [wide], present: [small], raw: true, encoded: true),
    Row(former: [wide], present: [wide], raw: false, encoded: false),
    Row(former: [wide], present: [wide, small], raw: false, encoded: false),
    Row(former: [wide, small], present: [small, wide], raw: true, encoded: false),
    Row(former: [wide, small], present: [tall, small], raw: true, encoded: true),
    // The stream was not the first choice before either.
    Row(former: [small, wide], present: [tall, wide], raw: false, encoded: false),
    Row(former: [small, wide], present: [tall], raw: true, encoded: true),
    // Any size is taken.
    Row(former: [wide], present: [], raw: false, encoded: false),
    Row(former: [], present: [small], raw: true, encoded: true),
    Row(former: [], present: [small, wide], raw: false, encoded: false),
  ])
  func affected(_ row: Row) {
    for (isRaw, expected) in [(true, row.raw), (false, row.encoded)] {
      #expect(
        VideoResize.affects(Self.wide, former: row.former, present: row.present, isRaw: isRaw) == expected,
        "\(row) raw \(isRaw)")
    }
  }
}
