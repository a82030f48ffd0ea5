/// Sizes as caps can express them: each of these widths with each of these heights.
package struct VideoSizeBox: Equatable, Sendable {
  /// Pixels, from 1 on.
  package var width: ClosedRange<Int>
  /// Pixels, from 1 on.
  package var height: ClosedRange<Int>

  package init(width: ClosedRange<Int>, height: ClosedRange<Int>) {
    self.width = width
    self.height = height
  }

  func contains(_ size: VideoSize) -> Bool { width.contains(size.width) && height.contains(size.height) }
}

extension VideoRanges {
  /// Boxes within `box` that together hold every size that the ranges accept by itself.
  ///
  /// Orientation and ratio can't be expressed by a box, so the last boxes may hold other sizes as well. The first ones
  /// hold accepted sizes only, so that a source which fixates the first structure of its caps gets one.
  ///
  /// - Parameter pixelAspectRatio: of all pictures.
  package func boxes(
    within box: VideoSizeBox, pixelAspectRatio: Fraction = Fraction(clamping: 1)
  ) -> [VideoSizeBox] {
    let candidates = VideoOrientation.allCases.compactMap {
      SizeSearch($0, self[$0], within: box, pixelAspectRatio)
    }
    var boxes: [VideoSizeBox] = []
    for box in candidates.compactMap(\.exact) + candidates.map(\.hull) where !boxes.contains(box) {
      boxes.append(box)
    }
    return boxes
  }

  /// The same for pixels of any shape, which make every ratio of a size possible.
  package func boxesOfAnyPixels(within box: VideoSizeBox) -> [VideoSizeBox] {
    VideoOrientation.allCases.compactMap { self[$0].bounds(within: box) }
      .reduce(into: []) { boxes, box in if !boxes.contains(box) { boxes.append(box) } }
  }
}

extension VideoRange {
  /// The widths and heights within `box` that are within the bounds; nil if there are none, or if the range is disabled.
  func bounds(within box: VideoSizeBox) -> VideoSizeBox? {
    guard isEnabled, let width = Self.bounded(box.width, minimumWidth, maximumWidth),
      let height = Self.bounded(box.height, minimumHeight, maximumHeight)
    else { return nil }
    return VideoSizeBox(width: width, height: height)
  }

  private static func bounded(_ range: ClosedRange<Int>, _ minimum: Int?, _ maximum: Int?) -> ClosedRange<Int>? {
    let lower = max(range.lowerBound, minimum ?? 1, 1)
    let upper = min(range.upperBound, maximum ?? .max)
    return lower <= upper ? lower...upper : nil
  }

  /// Width ÷ height of accepted displays. Squares count as either orientation.
  func displayRatios(_ orientation: VideoOrientation) -> ClosedRange<Double> {
    let nearlySquare = 0.999.squareRoot()
    let minimum = minimumAspectRatio ?? 1
    let least = minimum > 1.001 ? minimum - Self.aspectRatioTolerance : nearlySquare
    let most = max((maximumAspectRatio ?? .infinity) + Self.aspectRatioTolerance, least)
    return orientation == .landscape ? least...most : (1 / most)...(1 / least)
  }
}

/// Looks for the sizes of one orientation.
private struct SizeSearch {
  let orientation: VideoOrientation
  let range: VideoRange
  let pixelAspectRatio: Fraction
  /// Width ÷ height, in pixels.
  let ratios: ClosedRange<Double>
  /// The smallest box with all accepted sizes, or one not much larger.
  let hull: VideoSizeBox

  init?(
    _ orientation: VideoOrientation, _ range: VideoRange, within box: VideoSizeBox, _ pixelAspectRatio: Fraction
  ) {
    guard let bounds = range.bounds(within: box) else { return nil }
    self.orientation = orientation
    self.range = range
    self.pixelAspectRatio = pixelAspectRatio
    let ratios = range.displayRatios(orientation)
    self.ratios = ratios.lowerBound / pixelAspectRatio.value...ratios.upperBound / pixelAspectRatio.value
    guard
      let narrowWidth = Self.intersection(bounds.width, Self.scaled(bounds.height, by: self.ratios)),
      let narrowHeight = Self.intersection(bounds.height, Self.scaled(narrowWidth, by: Self.inverse(self.ratios)))
    else { return nil }
    hull = VideoSizeBox(width: narrowWidth, height: narrowHeight)
  }

  /// A box with accepted sizes only; nil if none was found. It is near 320×240, which sources without a preference
  /// choose.
  var exact: VideoSizeBox? {
    if isAccepted(hull) { return hull }
    guard let point else { return nil }
    guard let width = Self.intersection(hull.width, Self.scaled(point.height...point.height, by: ratios)),
      let leastHeight = Self.whole((Double(width.upperBound) / ratios.upperBound).rounded(.up))
    else { return nil }
    let height = min(max(hull.height.lowerBound, leastHeight), point.height)...point.height
    return [
      VideoSizeBox(width: width, height: height), VideoSizeBox(width: width, height: point.height...point.height),
    ]
    .first { isAccepted($0) }
  }

  /// An accepted size.
  private var point: VideoSize? {
    let usual = orientation == .landscape ? VideoSize(320, 240) : VideoSize(240, 320)
    for candidate in [usual.width, hull.width.lowerBound, hull.width.upperBound, middle(hull.width)] {
      let width = even(candidate, within: hull.width)
      guard let heights = Self.intersection(hull.height, Self.scaled(width...width, by: Self.inverse(ratios))) else {
        continue
      }
      let size = VideoSize(width, even(usual.height, within: heights))
      if accepts(size) { return size }
    }
    return nil
  }

  private func accepts(_ size: VideoSize) -> Bool {
    let picture = VideoPicture(size, pixelAspectRatio: pixelAspectRatio)
    guard let ratio = picture.displayRatio else { return false }
    return VideoRanges.orientations(ofRatio: ratio).contains(orientation) && range.failure(of: picture) == nil
  }

  /// Accepted sizes lie between two ratios, so it is enough to look at the two corners with the extreme ratios.
  private func isAccepted(_ box: VideoSizeBox) -> Bool {
    accepts(VideoSize(box.width.lowerBound, box.height.upperBound))
      && accepts(VideoSize(box.width.upperBound, box.height.lowerBound))
  }

  private func middle(_ range: ClosedRange<Int>) -> Int { range.lowerBound + (range.upperBound - range.lowerBound) / 2 }

  /// The number in `range` that is nearest to `number`; even if possible, because many elements step by two.
  private func even(_ number: Int, within range: ClosedRange<Int>) -> Int {
    let nearest = min(max(number, range.lowerBound), range.upperBound)
    guard !nearest.isMultiple(of: 2) else { return nearest }
    return nearest > range.lowerBound ? nearest - 1 : nearest < range.upperBound ? nearest + 1 : nearest
  }

  private static func inverse(_ ratios: ClosedRange<Double>) -> ClosedRange<Double> {
    1 / ratios.upperBound...1 / ratios.lowerBound
  }

  private static func intersection(_ one: ClosedRange<Int>, _ other: ClosedRange<Int>) -> ClosedRange<Int>? {
    one.overlaps(other) ? one.clamped(to: other) : nil
  }

  /// The whole numbers between the products of the lower and of the upper bounds.
  private static func scaled(_ range: ClosedRange<Int>, by factors: ClosedRange<Double>) -> ClosedRange<Int> {
    let lower = whole((Double(range.lowerBound) * factors.lowerBound).rounded(.up)) ?? .max
    let upper = whole((Double(range.upperBound) * factors.upperBound).rounded(.down)) ?? .max
    return min(lower, upper)...max(lower, upper)
  }

  private static func whole(_ number: Double) -> Int? { Int(exactly: number) }
}
