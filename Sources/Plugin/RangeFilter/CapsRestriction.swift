import GStreamerKit
import SDLApp

/// Caps reduced to the sizes that a ``VideoRangeFilter`` supports.
struct CapsRestriction {
  let filter: VideoRangeFilter
  /// Whether the caps are upstream's. Their structures are not split, so that downstream's order of preference counts;
  /// downstream's structures are split, the head unit's sizes first.
  let isUpstream: Bool
  /// What comes to the scaler before the filter, if that is known: sizes near to it come first, unless a head unit
  /// has preferences of its own.
  var input: VideoPicture?

  /// Lists of widths and of heights with more combinations than this are treated as ranges.
  private static let maximumCombinations = 256

  /// The restricted `caps`, in their order.
  func apply(to caps: borrowing Caps) -> Caps {
    var result = Caps()
    for index in 0..<caps.count {
      guard let structure = caps.structure(at: index) else { continue }
      let features = caps.features(at: index)
      for choice in choices(in: structure) {
        guard let narrowed = narrowed(structure, to: choice) else { continue }
        // Leaves out structures that are covered already.
        result.merge(narrowed, features: features)
      }
    }
    return result
  }

  private enum Choice {
    case all
    case box(VideoSizeBox)
    /// The same, of this pixel aspect ratio only.
    case pixels(VideoSizeBox, Fraction)
  }

  private func choices(in structure: StructureView) -> [Choice] {
    let (width, height) = (CapsSizes.Field(structure, "width"), CapsSizes.Field(structure, "height"))
    if case .absent = width, case .absent = height, isUpstream, structure.hasName("video/x-h264") {
      // The size of this H.264 is only in its parameter sets.
      return [.all]
    }
    let pixelAspectRatio = CapsSizes.pixelAspectRatio(structure)
    if case .values(let widths) = width, case .values(let heights) = height,
      widths.count * heights.count <= Self.maximumCombinations
    {
      let sizes = widths.flatMap { width in heights.map { VideoSize(width, $0) } }
      let accepted = sizes.filter {
        filter.supports(VideoPicture($0, pixelAspectRatio: pixelAspectRatio ?? CapsSizes.squarePixels))
      }
      return accepted.count < sizes.count ? accepted.map { .box(Self.box($0)) } : [.all]
    }
    let bounds = VideoSizeBox(width: width.bounds, height: height.bounds)
    let displays = filter.acceptedDisplays.compactMap(\.streamSize).filter {
      bounds.width.contains($0.width) && bounds.height.contains($0.height)
    }
    guard !isUpstream else {
      let boxes = boxes(within: bounds, pixelAspectRatio)
      return [Self.hull(displays.map(Self.box) + boxes)].compactMap(\.self).map { .box($0) }
    }
    return preferences(within: bounds, pixelAspectRatio) + displays.map { .box(Self.box($0)) }
      + squares(within: bounds, pixelAspectRatio) + boxes(within: bounds, pixelAspectRatio).map { .box($0) }
  }

  private func boxes(within bounds: VideoSizeBox, _ pixelAspectRatio: Fraction?) -> [VideoSizeBox] {
    guard let pixelAspectRatio else { return filter.ranges.boxesOfAnyPixels(within: bounds) }
    return filter.ranges.boxes(within: bounds, pixelAspectRatio: pixelAspectRatio)
  }

  /// Where pixels may have any shape, square ones come first: otherwise a scaler may shape them so that the display
  /// ratio is not accepted.
  private func squares(within bounds: VideoSizeBox, _ pixelAspectRatio: Fraction?) -> [Choice] {
    guard pixelAspectRatio == nil else { return [] }
    return filter.ranges.boxes(within: bounds).map { .pixels($0, CapsSizes.squarePixels) }
  }

  private func preferences(within bounds: VideoSizeBox, _ pixelAspectRatio: Fraction?) -> [Choice] {
    guard filter.displays.isEmpty, let input else { return [] }
    return filter.ranges.pictures(near: input, within: bounds, pixelAspectRatio: pixelAspectRatio).map {
      .pixels(Self.box($0.size), $0.pixelAspectRatio)
    }
  }

  private static func box(_ size: VideoSize) -> VideoSizeBox {
    VideoSizeBox(width: size.width...size.width, height: size.height...size.height)
  }

  /// The smallest box around all sizes; nil if there are none.
  private static func hull(_ boxes: [VideoSizeBox]) -> VideoSizeBox? {
    guard let first = boxes.first else { return nil }
    return boxes.dropFirst().reduce(first) { hull, box in
      VideoSizeBox(
        width: min(hull.width.lowerBound, box.width.lowerBound)...max(hull.width.upperBound, box.width.upperBound),
        height: min(hull.height.lowerBound, box.height.lowerBound)...max(hull.height.upperBound, box.height.upperBound)
      )
    }
  }

  /// A copy of the structure with the pictures of the choice; nil if there are none.
  private func narrowed(_ structure: StructureView, to choice: Choice) -> Structure? {
    func range(_ range: ClosedRange<Int>) -> ClosedRange<Int32> {
      Int32(clamping: range.lowerBound)...Int32(clamping: range.upperBound)
    }
    guard let copy = structure.copy() else { return nil }
    switch choice {
    case .all: return copy
    case .box(let box):
      guard copy.restrict("width", to: range(box.width)), copy.restrict("height", to: range(box.height)) else {
        return nil
      }
    case .pixels(let box, let ratio):
      guard copy.restrict("width", to: range(box.width)), copy.restrict("height", to: range(box.height)),
        copy.restrict(
          CapsSizes.pixelAspectRatioField, to: (Int32(clamping: ratio.numerator), Int32(clamping: ratio.denominator)))
      else { return nil }
    }
    return copy
  }
}

enum CapsSizes {
  /// The values of a field of type gint.
  enum Field {
    case values([Int])
    case range(ClosedRange<Int>)
    case absent

    init(_ structure: StructureView, _ name: String) {
      guard let value = structure.value(name) else {
        self = .absent
        return
      }
      if g_type_check_value_holds(value, cgst_type_int_range()) != 0 {
        self = .range(Int(gst_value_get_int_range_min(value))...Int(gst_value_get_int_range_max(value)))
      } else if g_type_check_value_holds(value, cgst_type_list()) != 0 {
        let values = (0..<gst_value_list_get_size(value)).compactMap {
          Self.integer(gst_value_list_get_value(value, $0))
        }
        let isComplete = values.count == Int(gst_value_list_get_size(value)) && !values.isEmpty
        self = isComplete ? .values(values) : .absent
      } else {
        self = Self.integer(value).map { .values([$0]) } ?? .absent
      }
    }

    private static func integer(_ value: UnsafePointer<GValue>?) -> Int? {
      guard let value, g_type_check_value_holds(value, cgst_type_int()) != 0 else { return nil }
      return Int(g_value_get_int(value))
    }

    /// From the smallest value to the largest one.
    var bounds: ClosedRange<Int> {
      switch self {
      case .values(let values): (values.min() ?? 1)...(values.max() ?? 1)
      case .range(let range): range
      case .absent: 1...Int(Int32.max)
      }
    }
  }

  static let pixelAspectRatioField = "pixel-aspect-ratio"
  static let squarePixels = Fraction(clamping: 1)

  /// The pixel aspect ratio of a structure; nil if it may be any, or one of several.
  static func pixelAspectRatio(_ structure: StructureView) -> Fraction? {
    structure.fraction(pixelAspectRatioField).flatMap { Fraction(Int($0.numerator), Int($0.denominator)) }
  }

  /// The picture of fixed caps; nil if they do not have a size. Without a ratio pixels are square.
  static func fixedPicture(_ caps: UnsafePointer<GstCaps>) -> VideoPicture? {
    guard gst_caps_is_fixed(caps) != 0, let structure = StructureView(caps: caps, 0), let size = size(structure) else {
      return nil
    }
    return VideoPicture(size, pixelAspectRatio: pixelAspectRatio(structure) ?? squarePixels)
  }

  /// The one size of a structure; nil if it has none, or more.
  private static func size(_ structure: StructureView) -> VideoSize? {
    guard let width = structure.integer("width"), let height = structure.integer("height") else { return nil }
    return VideoSize(Int(width), Int(height))
  }
}
