/// A background notice encoded in advance: an IDR picture with its parameter sets, and repeats of a few bytes each.
///
/// Encoded when the stream starts, so that it can be sent at once when the app leaves the foreground. With the stream's
/// settings, the parameter sets are the stream's too, so that the head unit's decoder continues. After the notice, the
/// stream must continue with an IDR picture.
package struct NoticeSequence: Sendable {
  /// One picture in Annex B form.
  package struct AccessUnit: Equatable, Sendable {
    package let bytes: [UInt8]
    /// Whether this is the IDR picture with the parameter sets.
    package let isKeyFrame: Bool
  }

  /// The number of pictures that sdl_ios sends when the app leaves the foreground.
  package static let standardCount = 30

  /// The IDR picture, then the repeats. They have to be sent in this order, and may be sent again from the first.
  package let accessUnits: [AccessUnit]
  package let picture: NoticePicture
}
