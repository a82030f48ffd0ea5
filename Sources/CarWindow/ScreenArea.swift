/// A part of the screen, in its pixels.
public struct ScreenArea: Hashable, Sendable {
  public let x: Int
  public let y: Int
  public let width: Int
  public let height: Int

  public init(x: Int, y: Int, width: Int, height: Int) {
    (self.x, self.y, self.width, self.height) = (x, y, width, height)
  }

  /// The part of it on a screen of that size; nil if there is none.
  func clipped(to size: ScreenSize) -> ScreenArea? {
    let (left, top) = (max(x, 0), max(y, 0))
    let (right, isRightCut) = x.addingReportingOverflow(width)
    let (bottom, isBottomCut) = y.addingReportingOverflow(height)
    guard !isRightCut, !isBottomCut, min(right, size.width) > left, min(bottom, size.height) > top else { return nil }
    return ScreenArea(x: left, y: top, width: min(right, size.width) - left, height: min(bottom, size.height) - top)
  }
}
