# Removes scheduled tasks. Skips missing tasks. Names: the tasks.
[CmdletBinding()]
param([string[]]$Names = @())
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
foreach ($name in $Names) {
    foreach ($one in @(Find-Existing -Look { Get-ScheduledTask -TaskName $name -ErrorAction 'Stop' })) {
        Unregister-ScheduledTask -TaskName (Get-Property -Of $one -Name 'TaskName') -Confirm:$false
    }
}
Write-Result -Value @{ removed = @($Names) }
