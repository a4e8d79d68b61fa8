; The data of an account stays when the app goes; whoever removes it is told where it is. Silent for updates.
!macro customUnInstall
  ${ifNot} ${isUpdated}
    ${ifNot} ${Silent}
      MessageBox MB_OK|MB_ICONINFORMATION "Your tasks, settings and audit log stay in $APPDATA\Countersign. Delete that folder if you want them gone."
    ${endIf}
  ${endIf}
!macroend
