# Installs a feature of Windows Server. Name: the feature. Returns whether a restart is needed.
[CmdletBinding()]
param([Parameter(Mandatory = $true)][string]$Name)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$result = Install-WindowsFeature -Name $Name -IncludeManagementTools -WarningAction 'SilentlyContinue'
if ("$(Get-Property -Of $result -Name 'Success')" -ne 'True') { throw "Install-WindowsFeature $Name failed: $(Get-PropertyOrNull -Of $result -Name 'ExitCode')" }
Write-Result -Value @{ restartNeeded = "$(Get-Property -Of $result -Name 'RestartNeeded')" -ne 'No' }
