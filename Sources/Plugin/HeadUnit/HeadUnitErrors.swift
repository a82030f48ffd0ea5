import GStreamerKit
import Glibc
import SDLLink

extension ElementError {
  /// Why a behaviour script can't be used.
  init(_ error: HeadUnitScriptFile.Failure) {
    switch error {
    case .unreadable(_, let code):
      self = .resource(
        code == ENOENT ? GST_RESOURCE_ERROR_NOT_FOUND : GST_RESOURCE_ERROR_OPEN_READ,
        "The script \(error). Check the property script.")
    case .malformed: self = .resource(GST_RESOURCE_ERROR_SETTINGS, "The script \(error).")
    }
  }

  /// Why `sdlheadunitsrc` can't listen for apps.
  init(listening error: LinkError) {
    let text = error.description
    let sentence = text.prefix(1).uppercased() + text.dropFirst() + "."
    switch error {
    case .cannotListen(_, errno: EADDRNOTAVAIL):
      self = .resource(
        GST_RESOURCE_ERROR_OPEN_READ,
        "\(sentence) This machine has no such address; check the property address, or use * for all that it has.")
    case .cannotListen:
      self = .resource(
        GST_RESOURCE_ERROR_OPEN_READ,
        "\(sentence) Is another head unit there (SDL Core, another sdlheadunitsrc)? End it, or choose a port that is free with port=N; port=0 takes any, and current-port tells which."
      )
    case .cannotResolve, .resolvingTimedOut:
      self = .resource(GST_RESOURCE_ERROR_NOT_FOUND, "\(sentence) Check the property address.")
    default: self = .resource(GST_RESOURCE_ERROR_FAILED, sentence)
    }
  }
}
