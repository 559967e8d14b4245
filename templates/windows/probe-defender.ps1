# Observes what Defender is doing: absent, off, or on with the processes that it excludes. Its cmdlet is there where
# Defender was removed or is switched off by a policy, and throws.
[CmdletBinding()]
param()
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$state = 'absent'
$excluded = @()
if ($null -ne (Find-Existing -Look { Get-Command -Name 'Get-MpPreference' -ErrorAction 'Stop' })) {
    $service = Find-Existing -Look { Get-Service -Name 'WinDefend' -ErrorAction 'Stop' }
    if ($null -ne $service) {
        $state = 'off'
        if ("$(Get-Property -Of $service -Name 'Status')" -eq 'Running') {
            $state = 'on'
            foreach ($process in @(Get-PropertyOrNull -Of (Get-MpPreference) -Name 'ExclusionProcess')) {
                if ("$process" -ne '') { $excluded += [string]$process }
            }
        }
    }
}
Write-Result -Value @{ state = $state; excludedProcesses = @($excluded) }
