# Observes the processes that Defender excludes; present is false if Defender is not installed.
[CmdletBinding()]
param()
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$excluded = @()
$present = $null -ne (Find-Existing -Look { Get-Command -Name 'Get-MpPreference' -ErrorAction 'Stop' })
if ($present) {
    $preference = Get-MpPreference
    foreach ($process in @($preference.ExclusionProcess)) {
        if ($null -ne $process) { $excluded += [string]$process }
    }
}
Write-Result -Value @{ present = $present; excludedProcesses = @($excluded) }
