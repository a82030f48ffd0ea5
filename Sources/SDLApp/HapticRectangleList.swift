/// The parts of the app's pictures that can be touched.
public struct HapticRectangleList: Equatable, Sendable {
  /// In pixels of the stream; their ids are in range and different.
  public let rectangles: [HapticRectangle]
  /// The size of the pictures that they belong to; nil for pictures of any size.
  public let pictureSize: VideoSize?
  /// Whether there were more than the 1000 rectangles that a head unit takes, so that the last ones are left out.
  public let isCut: Bool

  /// Creates a list. If the ids are not in range or not different, each becomes the index in the list.
  public init(_ given: [HapticRectangle], pictureSize: VideoSize? = nil) {
    isCut = given.count > SendHapticData.maximumCount
    self.pictureSize = pictureSize
    let kept = given.prefix(SendHapticData.maximumCount)
    let hasIDs = kept.allSatisfy { HapticRectangle.ids.contains($0.id) } && Set(kept.map(\.id)).count == kept.count
    rectangles =
      hasIDs
      ? Array(kept)
      : kept.enumerated().map { index, rectangle in
        var numbered = rectangle
        numbered.id = index
        return numbered
      }
  }
}
