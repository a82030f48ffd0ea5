import BackgroundNotice
import GStreamerKit
import Testing
import X264Encoder

@testable import Plugin
@testable import PluginTestSupport

/// The notice is made ahead, on a thread of its own.
@Suite struct NoticePreparationTests {
  private let element: Element
  private let preparation = NoticePreparation()

  init() throws {
    element = try Element("sdlvideosink")
  }

  private func prepare(_ text: String, bitrate: Int = 600, bufferSize: Int? = nil, width: Int = 64) {
    let settings = EncoderSettings(
      width: width, height: 48, frameRate: FrameRate(numerator: 30, denominator: 1), pixelFormat: .i420,
      bitrate: bitrate, bufferSize: bufferSize, threads: 1)
    preparation.prepare(NoticeRequest(text: text, settings: settings), for: element.pointer)
  }

  private var isReady: Bool { if case .some = preparation.result { true } else { false } }

  /// The width of the pictures; nil without any.
  private var width: Int? {
    guard case .some(.some(let sequence)) = preparation.result else { return nil }
    return sequence.picture.width
  }

  /// Nobody keeps the element after that, whose pipeline may be gone.
  @Test func theElementIsReleased() {
    let references = element.object.pointee.ref_count
    for text in ["One", "Two", "Three"] { prepare(text) }
    #expect(eventually { isReady })
    #expect(eventually { element.object.pointee.ref_count == references })
  }

  /// The stream's rates change all the time; a notice that is there serves all of them.
  @Test func otherRatesNeedNoOtherNotice() {
    prepare("Text")
    #expect(eventually { isReady })
    prepare("Text", bitrate: 300)
    #expect(isReady)
    prepare("Text", bufferSize: 100)
    #expect(isReady)
  }

  /// The one that was asked for last counts, whichever was begun.
  @Test(.enabled(if: isX264LinkedIn)) func theLastRequestCounts() {
    for width in [64, 80, 96] { prepare("Text", width: width) }
    #expect(eventually { isReady })
    #expect(width == 96)
    prepare("Text", width: 64)
    #expect(width != 96)
    #expect(eventually { width == 64 })
  }
}
