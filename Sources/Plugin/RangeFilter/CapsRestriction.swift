import GStreamerKit
import SDLApp

/// Caps reduced to the sizes that a ``VideoRangeFilter`` supports.
struct CapsRestriction {
  let filter: VideoRangeFilter
  /// Whether the caps are upstream's. Their structures are not split, so that downstream's order of preference counts;
  /// downstream's structures are split, the head unit's sizes first.
  let isUpstream: Bool

  /// Lists of widths and of heights with more combinations than this are treated as ranges.
  private static let maximumCombinations = 256

  /// The restricted `caps`, in their order.
  func apply(to caps: borrowing Caps) -> Caps {
    var result = Caps()
    for index in 0..<caps.count {
      guard let structure = caps.structure(at: index) else { continue }
      let features = caps.features(at: index)
      switch sizes(in: structure) {
      case .all:
        if let copy = structure.copy() { result.merge(copy, features: features) }
      case .boxes(let boxes):
        for box in boxes {
          guard let narrowed = narrowed(structure, to: box) else { continue }
          // Leaves out structures that are covered already.
          result.merge(narrowed, features: features)
        }
      }
    }
    return result
  }

  /// The restricted sizes of a structure.
  private enum Sizes {
    case all
    case boxes([VideoSizeBox])
  }

  private func sizes(in structure: StructureView) -> Sizes {
    let (width, height) = (CapsSizes.Field(structure, "width"), CapsSizes.Field(structure, "height"))
    if case .absent = width, case .absent = height, isUpstream, structure.hasName("video/x-h264") {
      // The size of this H.264 is only in its parameter sets.
      return .all
    }
    if case .values(let widths) = width, case .values(let heights) = height,
      widths.count * heights.count <= Self.maximumCombinations
    {
      let sizes = widths.flatMap { width in heights.map { VideoSize(width, $0) } }
      let accepted = sizes.filter(filter.supports)
      return accepted.count < sizes.count ? .boxes(accepted.map(Self.box)) : .all
    }
    let bounds = VideoSizeBox(width: width.bounds, height: height.bounds)
    let displays = filter.acceptedDisplays.compactMap(\.streamSize).filter {
      bounds.width.contains($0.width) && bounds.height.contains($0.height)
    }
    let boxes = displays.map(Self.box) + filter.ranges.boxes(within: bounds)
    return .boxes(isUpstream ? [Self.hull(boxes)].compactMap(\.self) : boxes)
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

  /// A copy of the structure with the sizes that are in `box` too; nil if there are none.
  private func narrowed(_ structure: StructureView, to box: VideoSizeBox) -> Structure? {
    func range(_ range: ClosedRange<Int>) -> ClosedRange<Int32> {
      Int32(clamping: range.lowerBound)...Int32(clamping: range.upperBound)
    }
    guard let copy = structure.copy(), copy.restrict("width", to: range(box.width)),
      copy.restrict("height", to: range(box.height))
    else { return nil }
    return copy
  }
}

extension CapsRestriction {
  /// The most reasons; a warning shows ``RangeFilter/maximumReasons`` of them.
  private static let maximumReasons = 1000

  /// Why the restricted `caps` are empty, as texts for a warning; empty if they are not.
  func rejectionReasons(for caps: borrowing Caps) -> [String] {
    guard apply(to: caps).isEmpty else { return [] }
    var reasons: [String] = []
    for index in 0..<caps.count {
      guard let structure = caps.structure(at: index), reasons.count < Self.maximumReasons else { continue }
      // Raw video and H.264 often come in the same sizes.
      for reason in self.reasons(for: structure) where !reasons.contains(reason) { reasons.append(reason) }
    }
    return reasons
  }

  private func reasons(for structure: StructureView) -> [String] {
    let (width, height) = (CapsSizes.Field(structure, "width"), CapsSizes.Field(structure, "height"))
    if case .values(let widths) = width, case .values(let heights) = height,
      widths.count * heights.count <= Self.maximumCombinations
    {
      return widths.flatMap { width in heights.flatMap { filter.rejectionReasons(for: VideoSize(width, $0)) } }
    }
    let (widths, heights) = (width.bounds, height.bounds)
    return [
      "\(widths.lowerBound)–\(widths.upperBound)×\(heights.lowerBound)–\(heights.upperBound): no such size is in the ranges"
    ]
  }
}

/// The sizes in caps.
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

    func contains(_ value: Int) -> Bool {
      if case .values(let values) = self { values.contains(value) } else { bounds.contains(value) }
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

  /// The size of fixed caps; nil if they do not have one.
  static func fixedSize(_ caps: UnsafePointer<GstCaps>) -> VideoSize? {
    guard gst_caps_is_fixed(caps) != 0 else { return nil }
    return StructureView(caps: caps, 0).flatMap(size)
  }

  /// The one size of a structure; nil if it has none, or more.
  static func size(_ structure: StructureView) -> VideoSize? {
    guard let width = structure.integer("width"), let height = structure.integer("height") else { return nil }
    return VideoSize(Int(width), Int(height))
  }

  /// The one size of a structure; nil if it has none, or more.
  static func size(_ structure: UnsafePointer<GstStructure>) -> VideoSize? { size(StructureView(structure)) }

  /// The members of `sizes` that `caps` allow.
  static func sizes(in caps: UnsafePointer<GstCaps>, among sizes: [VideoSize]) -> Set<VideoSize> {
    guard gst_caps_is_any(caps) == 0 else { return Set(sizes) }
    var found: Set<VideoSize> = []
    let wanted = Set(sizes)
    for index in 0..<Int(gst_caps_get_size(caps)) {
      guard let structure = StructureView(caps: caps, index) else { continue }
      if let size = size(structure) {
        if wanted.contains(size) { found.insert(size) }
        continue
      }
      let (width, height) = (Field(structure, "width"), Field(structure, "height"))
      found.formUnion(wanted.filter { width.contains($0.width) && height.contains($0.height) })
    }
    return found
  }
}
