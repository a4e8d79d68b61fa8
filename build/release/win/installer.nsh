; countersign://task/ID, for the account that installs; macOS and Linux are told by the package itself.
!macro customInstall
  WriteRegStr SHELL_CONTEXT "Software\Classes\countersign" "" "URL:Countersign"
  WriteRegStr SHELL_CONTEXT "Software\Classes\countersign" "URL Protocol" ""
  WriteRegStr SHELL_CONTEXT "Software\Classes\countersign\shell\open\command" "" '"$INSTDIR\${APP_EXECUTABLE_FILENAME}" "%1"'
!macroend

; The data of an account stays when the app goes; whoever removes it is told where it is. Silent for updates.
!macro customUnInstall
  ${ifNot} ${isUpdated}
    DeleteRegKey SHELL_CONTEXT "Software\Classes\countersign"
    ${ifNot} ${Silent}
      MessageBox MB_OK|MB_ICONINFORMATION "Your tasks, settings and audit log stay in $APPDATA\Countersign. Delete that folder if you want them gone."
    ${endIf}
  ${endIf}
!macroend
