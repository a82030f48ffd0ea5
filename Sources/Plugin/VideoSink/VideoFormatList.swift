import GStreamerKit
import SDLApp

/// The property `video-formats`: which transports of H.264 may be used, in order of preference.
struct VideoFormatList: Equatable {
  /// As it was written.
  let text: String
  /// Not empty.
  let transports: [VideoTransport]

  /// Names with commas between them, in letters of any size; nil for anything else.
  init?(_ text: String) {
    var transports: [VideoTransport] = []
    for name in text.split(separator: ",", omittingEmptySubsequences: false) {
      let name = name.trimmingSpaces.uppercased()
      guard let transport = VideoTransport(rawValue: name) else { return nil }
      if !transports.contains(transport) { transports.append(transport) }
    }
    self.text = text
    self.transports = transports
  }

  /// Parses the property's value; nil and the empty text leave the choice to the head unit.
  static func parse(_ text: String?) throws(InvalidPropertyValue) -> VideoFormatList? {
    guard let text, !text.isEmpty else { return nil }
    guard let list = VideoFormatList(text) else {
      throw InvalidPropertyValue("\"\(text)\" is not raw, rtp, or both with a comma between them")
    }
    return list
  }
}

extension Substring {
  fileprivate var trimmingSpaces: Substring {
    let start = drop { $0 == " " }
    return start.dropLast(start.reversed().prefix { $0 == " " }.count)
  }
}
