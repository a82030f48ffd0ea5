/// A picture as caps describe it: its size, and the shape of its pixels, which is not square in recordings of
/// television.
package struct VideoPicture: Equatable, Sendable {
  /// Pixels.
  package let size: VideoSize
  /// Width ÷ height of a pixel on a display.
  package let pixelAspectRatio: Fraction

  /// Creates a picture; of square pixels unless the ratio says otherwise.
  package init(_ size: VideoSize, pixelAspectRatio: Fraction = Fraction(clamping: 1)) {
    self.size = size
    self.pixelAspectRatio = pixelAspectRatio
  }

  /// Width ÷ height on a display; nil without a size.
  var displayRatio: Double? {
    guard size.width > 0, size.height > 0 else { return nil }
    return Double(size.width) / Double(size.height) * pixelAspectRatio.value
  }
}

extension VideoPicture: CustomStringConvertible {
  /// "720×576", or "720×576 with pixels of 64:45".
  package var description: String {
    guard pixelAspectRatio != Fraction(clamping: 1) else { return "\(size)" }
    return "\(size) with pixels of \(pixelAspectRatio.numerator):\(pixelAspectRatio.denominator)"
  }
}

extension VideoRanges {
  /// The pictures to which a scaler should turn `input`, the best first: the input itself if that is accepted, and the
  /// nearest accepted size with the input's display ratio, in even numbers. If no size of that ratio is accepted, it is
  /// one of the nearest ratio, so that a scaler that adds borders loses nothing.
  ///
  /// - Parameters:
  ///   - box: the sizes that are possible.
  ///   - pixelAspectRatio: of the result, if it can't be chosen.
  package func pictures(
    near input: VideoPicture, within box: VideoSizeBox, pixelAspectRatio: Fraction? = nil
  ) -> [VideoPicture] {
    var pictures: [VideoPicture] = []
    if pixelAspectRatio ?? input.pixelAspectRatio == input.pixelAspectRatio, box.contains(input.size),
      evaluate(input).isAccepted
    {
      pictures.append(input)
    }
    if let scaled = scaled(input, within: box, pixelAspectRatio ?? Fraction(clamping: 1)), !pictures.contains(scaled) {
      pictures.append(scaled)
    }
    return pictures
  }

  private func scaled(_ input: VideoPicture, within box: VideoSizeBox, _ pixelAspectRatio: Fraction) -> VideoPicture? {
    guard let ratio = input.displayRatio else { return nil }
    let searches = VideoOrientation.allCases.compactMap {
      orientation -> (distance: Double, search: ScaledSizeSearch)? in
      guard let bounds = self[orientation].bounds(within: box) else { return nil }
      let allowed = self[orientation].displayRatios(orientation)
      let nearest = min(max(ratio, allowed.lowerBound), allowed.upperBound)
      // The picture inside of borders keeps its height, or its width if borders are above and below it.
      let width = Double(input.size.height) * max(ratio, nearest) / pixelAspectRatio.value
      return (
        max(ratio, nearest) / min(ratio, nearest),
        ScaledSizeSearch(bounds: bounds, ratio: nearest / pixelAspectRatio.value, width: width)
      )
    }
    // The sort is stable only by chance, but both orientations are equally near to squares alone.
    for (_, search) in searches.sorted(by: { $0.distance < $1.distance }) {
      let size = search.first { evaluate(VideoPicture($0, pixelAspectRatio: pixelAspectRatio)).isAccepted }
      if let size { return VideoPicture(size, pixelAspectRatio: pixelAspectRatio) }
    }
    return nil
  }
}

/// Even sizes of one ratio, the nearest to a width first.
private struct ScaledSizeSearch {
  let bounds: VideoSizeBox
  /// Width ÷ height, in pixels.
  let ratio: Double
  let width: Double

  /// Ratios that bounds exclude are found after some steps, or not at all.
  private static let steps = 512

  func first(where isAccepted: (VideoSize) -> Bool) -> VideoSize? {
    let least = max(Double(bounds.width.lowerBound), Double(bounds.height.lowerBound) * ratio)
    let most = min(Double(bounds.width.upperBound), Double(bounds.height.upperBound) * ratio)
    guard least <= most, let start = Self.even(min(max(width, least), most)) else { return nil }
    for step in 0..<Self.steps {
      for width in step == 0 ? [start] : [start - 2 * step, start + 2 * step] {
        guard bounds.width.contains(width), let height = Self.even(Double(width) / ratio) else { continue }
        for height in [height, height - 2, height + 2] where bounds.height.contains(height) {
          let size = VideoSize(width, height)
          if isAccepted(size) { return size }
        }
      }
    }
    return nil
  }

  private static func even(_ number: Double) -> Int? { Int(exactly: (number / 2).rounded()).map { 2 * $0 } }
}
