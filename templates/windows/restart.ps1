# Restarts the host in five seconds, by a task of SYSTEM, so that this command can still return. Before: how long it
# had been up, in milliseconds. If the host has restarted since then, it does nothing.
[CmdletBinding()]
param([Parameter(Mandatory = $true)][string]$Before)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$same = (Get-UptimeMilliseconds) -ge [long]$Before
if ($same) {
    $action = New-ScheduledTaskAction -Execute 'shutdown.exe' -Argument '/r /f /t 5'
    $principal = New-ScheduledTaskPrincipal -UserId 'SYSTEM' -LogonType 'ServiceAccount' -RunLevel 'Highest'
    $settings = New-ScheduledTaskSettingsSet -AllowStartIfOnBatteries -DontStopIfGoingOnBatteries
    Register-ScheduledTask -TaskName 'kbuild-restart' -Action $action -Principal $principal -Settings $settings -Force | Out-Null
    Start-ScheduledTask -TaskName 'kbuild-restart'
}
Write-Result -Value $same
