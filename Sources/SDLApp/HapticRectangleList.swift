/// What can be touched in the app's pictures.
public struct HapticRectangleList: Equatable, Sendable {
  /// In pixels of the stream; with ids that are in range and differ.
  public let rectangles: [HapticRectangle]
  /// Size of the pictures that they belong to; nil for whatever is streamed.
  public let pictureSize: VideoSize?
  /// There were more than the 1000 that a head unit takes, and the rest was cut.
  public let isCut: Bool

  /// The ids that are given, if they are in range and differ; otherwise each rectangle has its place in the list, from 0.
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
