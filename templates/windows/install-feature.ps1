# Installs a feature of Windows Server. Name: the feature. Returns whether a restart is needed.
[CmdletBinding()]
param([Parameter(Mandatory = $true)][string]$Name)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$result = Install-WindowsFeature -Name $Name -IncludeManagementTools -WarningAction 'SilentlyContinue'
if (-not $result.Success) { throw "Install-WindowsFeature $Name failed: $($result.ExitCode)" }
Write-Result -Value @{ restartNeeded = [string]$result.RestartNeeded -ne 'No' }
