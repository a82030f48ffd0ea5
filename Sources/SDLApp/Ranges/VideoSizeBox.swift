/// Sizes as caps can express them: each of these widths with each of these heights.
public struct VideoSizeBox: Equatable, Sendable {
  /// Pixels, from 1 on.
  public var width: ClosedRange<Int>
  /// Pixels, from 1 on.
  public var height: ClosedRange<Int>

  /// Creates the box of all combinations.
  public init(width: ClosedRange<Int>, height: ClosedRange<Int>) {
    self.width = width
    self.height = height
  }
}

extension VideoRanges {
  /// Boxes within `box` that together hold every size that the ranges accept by itself.
  ///
  /// Orientation and ratio can't be expressed by a box, so the last boxes may hold other sizes as well. The first ones
  /// hold accepted sizes only, so that a source which fixates the first structure of its caps gets one.
  public func boxes(within box: VideoSizeBox) -> [VideoSizeBox] {
    let candidates = VideoOrientation.allCases.compactMap { SizeSearch($0, self[$0], within: box) }
    var boxes: [VideoSizeBox] = []
    for box in candidates.compactMap(\.exact) + candidates.map(\.hull) where !boxes.contains(box) {
      boxes.append(box)
    }
    return boxes
  }
}

/// Looks for the sizes of one orientation.
private struct SizeSearch {
  let orientation: VideoOrientation
  let range: VideoRange
  /// Width ÷ height.
  let ratios: ClosedRange<Double>
  /// The smallest box with all accepted sizes, or one not much larger.
  let hull: VideoSizeBox

  init?(_ orientation: VideoOrientation, _ range: VideoRange, within box: VideoSizeBox) {
    guard range.isEnabled,
      let width = Self.bounded(box.width, range.minimumWidth, range.maximumWidth),
      let height = Self.bounded(box.height, range.minimumHeight, range.maximumHeight)
    else { return nil }
    self.orientation = orientation
    self.range = range
    ratios = Self.ratios(orientation, range)
    guard
      let narrowWidth = Self.intersection(width, Self.scaled(height, by: ratios)),
      let narrowHeight = Self.intersection(height, Self.scaled(narrowWidth, by: Self.inverse(ratios)))
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
    VideoRanges.orientations(of: size)?.contains(orientation) == true
      && range.failure(of: VideoDisplay(size: size)) == nil
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

  /// Width ÷ height of accepted sizes. Squares count as either orientation.
  private static func ratios(_ orientation: VideoOrientation, _ range: VideoRange) -> ClosedRange<Double> {
    let nearlySquare = 0.999.squareRoot()
    let minimum = range.minimumAspectRatio ?? 1
    let least = minimum > 1.001 ? minimum - VideoRange.aspectRatioTolerance : nearlySquare
    let most = max((range.maximumAspectRatio ?? .infinity) + VideoRange.aspectRatioTolerance, least)
    return orientation == .landscape ? least...most : inverse(least...most)
  }

  private static func inverse(_ ratios: ClosedRange<Double>) -> ClosedRange<Double> {
    1 / ratios.upperBound...1 / ratios.lowerBound
  }

  private static func bounded(_ range: ClosedRange<Int>, _ minimum: Int?, _ maximum: Int?) -> ClosedRange<Int>? {
    let lower = max(range.lowerBound, minimum ?? 1, 1)
    let upper = min(range.upperBound, maximum ?? .max)
    return lower <= upper ? lower...upper : nil
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
