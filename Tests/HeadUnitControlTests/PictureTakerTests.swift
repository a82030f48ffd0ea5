import SDLHeadUnit
import SDLLink
import Testing

@testable import HeadUnitControl

/// The pictures that a page gets, of the app whose picture came last.
@Suite struct PictureTakerTests {
  /// A key frame of 480×320.
  private static let keyFrame: [UInt8] = [
    0, 0, 0, 1, 0x67, 0x42, 0xC0, 0x15, 0xDA, 0x07, 0x82, 0x9B, 0x01, 0x10, 0x00, 0x00, 0x03, 0x00, 0x10, 0x00, 0x00,
    0x03, 0x03, 0xC8, 0xF1, 0x62, 0xEA, 0, 0, 0, 1, 0x68, 0xCE, 0x0F, 0xC8, 0, 0, 0, 1, 0x65, 0x88, 0x84, 0x3A, 0x26,
  ]
  private static let picture: [UInt8] = [0, 0, 0, 1, 0x41, 0x9A, 0x20, 0x26, 0x80]

  private let pictures = PictureTaker()

  private func show(_ messages: [UInt8]..., by app: UInt8) {
    for message in messages { pictures.note(.videoData(message), of: app) }
  }

  private func numbers(after position: (app: UInt8, number: Int)?) -> (app: UInt8, numbers: [Int])? {
    pictures.units(after: position, atMost: .max).map { ($0.app, $0.units.map(\.number)) }
  }

  /// The only picture so far does not wait for the next one.
  @Test func theFirstPicture() throws {
    #expect(numbers(after: nil) == nil)
    show(Self.keyFrame, by: 3)
    let first = try #require(numbers(after: nil))
    #expect(first.app == 3 && first.numbers == [1])
    #expect(numbers(after: (3, 1))?.numbers == [])
    show(Self.picture, Self.picture, by: 3)
    #expect(numbers(after: (3, 1))?.numbers == [2, 3] && numbers(after: nil)?.numbers == [1, 2, 3])
  }

  /// Numbers count the pictures of all apps; who has those of another one begins with the key frame.
  @Test func twoApps() throws {
    show(Self.keyFrame, Self.picture, by: 1)
    #expect(numbers(after: nil)?.numbers == [1, 2])
    show(Self.keyFrame, Self.picture, by: 2)
    let second = try #require(numbers(after: (1, 2)))
    #expect(second.app == 2 && second.numbers == [3, 4])
    show(Self.picture, by: 1)
    let first = try #require(numbers(after: (2, 4)))
    #expect(first.app == 1 && first.numbers == [1, 2, 5])
    #expect(numbers(after: (1, 2))?.numbers == [5])
  }

  /// Nothing of a stream that has ended is shown.
  @Test func theEndOfAStream() {
    show(Self.keyFrame, Self.picture, by: 1)
    pictures.note(.videoStopped(reason: .endedByApp), of: 2)
    #expect(numbers(after: nil)?.numbers == [1, 2])
    pictures.note(.videoStopped(reason: .endedByApp), of: 1)
    #expect(numbers(after: nil) == nil)
    show(Self.picture, by: 1)
    #expect(numbers(after: nil)?.numbers == [])
    show(Self.keyFrame, Self.picture, by: 1)
    #expect(numbers(after: nil)?.numbers.count == 2)
  }

  /// Whoever waits for all pictures does not wait for those that are not looked at any more.
  @Test(.timeLimit(.minutes(1))) func theEnd() {
    pictures.takeImage { _ in Issue.record("nobody looks at it") }
    pictures.finish()
    pictures.waitForAll()
  }

  /// Without a picture there is a reason, and that is all that is waited for.
  @Test(.timeLimit(.minutes(1))) func noPicture() throws {
    let reasons = Monitor<[String]>([])
    try pictures.start(nil)
    for _ in 0..<2 {
      pictures.takeImage { result in
        if case .failure(let failure) = result { reasons.withLock { $0.append(failure.text) } }
      }
    }
    pictures.waitForAll()
    #expect(reasons.withLock { $0 } == Array(repeating: "no app shows a picture that can be decoded", count: 2))
    pictures.finish()
  }
}
