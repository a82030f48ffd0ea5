import SDLMessages
import Testing

/// The numbers of the functions in RPC specification 8.0, by their names there.
@Suite struct FunctionIDTests {
  @Test(
    arguments: [
      (.registerAppInterface, 1, "RegisterAppInterface"), (.unregisterAppInterface, 2, "UnregisterAppInterface"),
      (.setGlobalProperties, 3, "SetGlobalProperties"), (.resetGlobalProperties, 4, "ResetGlobalProperties"),
      (.addCommand, 5, "AddCommand"), (.deleteCommand, 6, "DeleteCommand"), (.addSubMenu, 7, "AddSubMenu"),
      (.deleteSubMenu, 8, "DeleteSubMenu"), (.createInteractionChoiceSet, 9, "CreateInteractionChoiceSet"),
      (.performInteraction, 10, "PerformInteraction"),
      (.deleteInteractionChoiceSet, 11, "DeleteInteractionChoiceSet"), (.alert, 12, "Alert"), (.show, 13, "Show"),
      (.speak, 14, "Speak"), (.setMediaClockTimer, 15, "SetMediaClockTimer"),
      (.performAudioPassThru, 16, "PerformAudioPassThru"), (.endAudioPassThru, 17, "EndAudioPassThru"),
      (.subscribeButton, 18, "SubscribeButton"), (.unsubscribeButton, 19, "UnsubscribeButton"),
      (.subscribeVehicleData, 20, "SubscribeVehicleData"), (.unsubscribeVehicleData, 21, "UnsubscribeVehicleData"),
      (.getVehicleData, 22, "GetVehicleData"), (.scrollableMessage, 25, "ScrollableMessage"), (.slider, 26, "Slider"),
      (.showConstantTBT, 27, "ShowConstantTBT"), (.alertManeuver, 28, "AlertManeuver"),
      (.updateTurnList, 29, "UpdateTurnList"), (.changeRegistration, 30, "ChangeRegistration"),
      (.genericResponse, 31, "GenericResponse"), (.putFile, 32, "PutFile"), (.deleteFile, 33, "DeleteFile"),
      (.listFiles, 34, "ListFiles"), (.setAppIcon, 35, "SetAppIcon"), (.setDisplayLayout, 36, "SetDisplayLayout"),
      (.systemRequest, 38, "SystemRequest"), (.getSystemCapability, 48, "GetSystemCapability"),
      (.sendHapticData, 49, "SendHapticData"), (.cancelInteraction, 57, "CancelInteraction"),
      (.closeApplication, 58, "CloseApplication"), (.showAppMenu, 59, "ShowAppMenu"),
      (.subtleAlert, 64, "SubtleAlert"), (.onHMIStatus, 0x8000, "OnHMIStatus"),
      (.onAppInterfaceUnregistered, 0x8001, "OnAppInterfaceUnregistered"), (.onButtonEvent, 0x8002, "OnButtonEvent"),
      (.onButtonPress, 0x8003, "OnButtonPress"), (.onVehicleData, 0x8004, "OnVehicleData"),
      (.onCommand, 0x8005, "OnCommand"), (.onDriverDistraction, 0x8007, "OnDriverDistraction"),
      (.onPermissionsChange, 0x8008, "OnPermissionsChange"), (.onAudioPassThru, 0x8009, "OnAudioPassThru"),
      (.onLanguageChange, 0x800A, "OnLanguageChange"), (.onKeyboardInput, 0x800B, "OnKeyboardInput"),
      (.onTouchEvent, 0x800C, "OnTouchEvent"), (.onSystemRequest, 0x800D, "OnSystemRequest"),
      (.onHashChange, 0x800E, "OnHashChange"), (.onSystemCapabilityUpdated, 0x8013, "OnSystemCapabilityUpdated"),
      (.onAppCapabilityUpdated, 0x8017, "OnAppCapabilityUpdated"),
    ] as [(FunctionID, UInt32, String)])
  func number(function: FunctionID, number: UInt32, name: String) {
    #expect(function.rawValue == number && function.description == name)
    #expect(FunctionID(name: name) == function && function.isKnown)
  }

  /// Those for which there is no constant: logs, policies and scripts have them by name.
  @Test(
    arguments: [
      (23, "ReadDID"), (24, "GetDTCs"), (37, "DiagnosticMessage"), (39, "SendLocation"), (40, "DialNumber"),
      (41, "ButtonPress"), (43, "GetInteriorVehicleData"), (44, "SetInteriorVehicleData"), (45, "GetWayPoints"),
      (46, "SubscribeWayPoints"), (47, "UnsubscribeWayPoints"), (50, "SetCloudAppProperties"),
      (51, "GetCloudAppProperties"), (52, "PublishAppService"), (53, "GetAppServiceData"), (54, "GetFile"),
      (55, "PerformAppServiceInteraction"), (56, "UnpublishAppService"), (60, "CreateWindow"), (61, "DeleteWindow"),
      (62, "GetInteriorVehicleDataConsent"), (63, "ReleaseInteriorVehicleDataModule"), (0x8006, "OnTBTClientState"),
      (0x800F, "OnInteriorVehicleData"), (0x8010, "OnWayPointChange"), (0x8011, "OnRCStatus"),
      (0x8012, "OnAppServiceData"), (0x8014, "OnSubtleAlertPressed"), (0x8015, "OnUpdateFile"),
      (0x8016, "OnUpdateSubMenu"), (0x10000, "EncodedSyncPData"), (0x10001, "SyncPData"),
      (0x18000, "OnEncodedSyncPData"), (0x18001, "OnSyncPData"),
    ] as [(UInt32, String)])
  func numbersByName(number: UInt32, name: String) {
    #expect(FunctionID(rawValue: number).description == name && FunctionID(name: name)?.rawValue == number)
  }

  /// The attribute `since` of the requests. Older ones are in every version that a head unit agrees on.
  @Test(
    arguments: [
      (1...40, RPCVersion(1)), (41...44, RPCVersion(4, 5)), (45...47, RPCVersion(4, 1)), (48...49, RPCVersion(4, 5)),
      (50...55, RPCVersion(5, 1)), (56...63, RPCVersion(6)), (64...64, RPCVersion(7)),
    ] as [(ClosedRange<UInt32>, RPCVersion)])
  func versionOfTheIntroduction(numbers: ClosedRange<UInt32>, version: RPCVersion) {
    for number in numbers { #expect(FunctionID(rawValue: number).introduction == version, "\(number)") }
  }

  @Test(
    arguments: [
      ("a request", 64, true, false), ("a request that has no constant", 63, true, false),
      ("a number that the specification leaves out", 42, false, false), ("one behind the last", 65, false, false),
      ("an answer to what can't be read", 31, false, false), ("a notification", 0x8000, false, true),
      ("a notification of the app", 0x8017, false, false), ("one behind the last notification", 0x8018, false, false),
      ("a request of old protocols", 0x10000, false, false), ("a notification of old protocols", 0x18000, false, false),
    ] as [(String, UInt32, Bool, Bool)])
  func kinds(what: String, number: UInt32, isRequest: Bool, isNotification: Bool) {
    let function = FunctionID(rawValue: number)
    #expect(function.isKnownRequest == isRequest && function.isKnownNotification == isNotification, "\(what)")
  }

  @Test func unknownNames() {
    #expect(FunctionID(name: "registerappinterface") == nil && FunctionID(name: "function 42") == nil)
    #expect(FunctionID.allNames.count == 91 && FunctionID.allNames.first == "AddCommand")
  }
}
