# Observes the install states of Windows features. Only Windows Server has them. Names: the features.
[CmdletBinding()]
param([string[]]$Names = @())
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$features = @()
$available = $null -ne (Find-Existing -Look { Get-Command -Name 'Get-WindowsFeature' -ErrorAction 'Stop' })
if ($available) {
    foreach ($feature in @(Get-WindowsFeature -Name $Names)) {
        $features += @{ name = [string](Get-Property -Of $feature -Name 'Name'); state = [string](Get-Property -Of $feature -Name 'InstallState') }
    }
}
Write-Result -Value @{ available = $available; features = @($features) }
