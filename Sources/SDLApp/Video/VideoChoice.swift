/// Which of the head unit's displays the app can stream to, once upstream's ranges have been asked; the first one is
/// streamed.
package struct VideoChoice: Equatable, Sendable {
  /// The head unit's displays, in its order; empty when it takes any size.
  package let displays: [VideoDisplay]
  /// The displays that the ranges accept, in the same order, without the fallbacks.
  package let acceptedDisplays: [VideoDisplay]
  /// Accepted displays of an earlier list: requested only when the head unit refuses the present sizes.
  package let fallbackDisplays: [VideoDisplay]
  /// The displays that the ranges reject, with the reason.
  package let rejections: [Rejection]

  /// A display that is not streamed to.
  package struct Rejection: Equatable, Sendable, CustomStringConvertible {
    package var display: VideoDisplay
    /// The first failing test with both numbers, for users.
    package var reason: String

    /// "800×480, 8.0 in: width 800 is above landscape::max-width 700".
    package var description: String { "\(display): \(reason)" }
  }

  /// - Parameters:
  ///   - displays: in the head unit's order.
  ///   - reasons: why displays are rejected, by their index.
  package init(_ displays: [VideoDisplay], reasons: [Int: String] = [:]) {
    self.displays = displays
    var accepted: [VideoDisplay] = []
    var rejections: [Rejection] = []
    for (index, display) in displays.enumerated() {
      if let reason = reasons[index] {
        rejections.append(Rejection(display: display, reason: reason))
      } else {
        accepted.append(display)
      }
    }
    acceptedDisplays = accepted.filter { !$0.isFallback }
    fallbackDisplays = accepted.filter(\.isFallback)
    self.rejections = rejections
  }

  /// Whether the head unit has displays, but none that the app supports: then nothing is streamed.
  package var supportsNone: Bool { acceptedDisplays.isEmpty && !displays.isEmpty }

  /// Sizes of the pictures that can be streamed, the first choice first.
  package var sizes: [VideoSize] { acceptedDisplays.compactMap(\.streamSize) }

  /// Sizes to try when all of ``sizes`` are refused.
  package var fallbackSizes: [VideoSize] { fallbackDisplays.compactMap(\.streamSize) }

  /// Whether the same pictures can be streamed; other differences do not count.
  package func hasSameSizes(as other: VideoChoice) -> Bool {
    sizes == other.sizes && supportsNone == other.supportsNone
  }

  /// The display that shows pictures of `size`.
  package func display(streaming size: VideoSize) -> VideoDisplay? {
    acceptedDisplays.first { $0.streamSize == size } ?? fallbackDisplays.first { $0.streamSize == size }
  }

  /// The most rejections that are listed in full.
  private static let mostReasons = 100

  /// Why the app supports none of the displays, as sentences for users; nil when it supports one.
  package var rejectionReason: String? {
    guard supportsNone else { return nil }
    let listed = rejections.prefix(Self.mostReasons).map(\.description).joined(separator: "; ")
    let rest = rejections.count - Self.mostReasons
    return "The app supports none of the head unit's displays: nothing is streamed until one of them changes. \(listed)"
      + (rest > 0 ? "; and \(rest) more." : ".")
  }
}
